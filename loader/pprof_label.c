// SPDX-License-Identifier: MIT
#include "pprof_label.h"

#include <string.h>

static const char size_key[] = "bytes";
static const char lifetime_key[] = "lifetime";
static const char age_key[] = "age";
static const char thread_key[] = "thread";
static const char tid_key[] = "tid";

#define AGE_PERCENT (100 / AP_AGES)

unsigned int ap_pprof_labels_put(const struct ap_profile *profile, const struct ap_labels *labels,
	struct ap_pprof_label out[AP_PPROF_LABELS])
{
	unsigned int count = 0;

	if (labels->size >= 0)
		out[count++] = (struct ap_pprof_label){
			size_key, NULL, ap_size_class_floor(labels->size), "bytes"};
	if (labels->lifetime >= 0)
		out[count++] = (struct ap_pprof_label){
			lifetime_key, NULL, ap_lifetime_floor(labels->lifetime), "nanoseconds"};
	if (labels->age >= 0)
		out[count++] = (struct ap_pprof_label){
			age_key, NULL, (int64_t)labels->age * AGE_PERCENT, "percent"};
	if (labels->thread >= 0) {
		const struct ap_profile_thread *thread = &profile->threads[labels->thread];

		if (*thread->name)
			out[count++] = (struct ap_pprof_label){thread_key, thread->name, 0, ""};
		if (thread->tid)
			out[count++] = (struct ap_pprof_label){tid_key, NULL, thread->tid, ""};
	}
	return count;
}

void ap_pprof_label_take(struct ap_pprof_labels *labels, const struct ap_pprof_label *label)
{
	uint64_t number = (uint64_t)label->number;

	if (label->text) {
		if (!strcmp(label->key, thread_key))
			labels->thread = label->text;
		return;
	}
	if (!strcmp(label->key, tid_key))
		labels->tid = label->number;
	if (label->number < 0)
		return;
	if (!strcmp(label->key, size_key))
		labels->labels.size = (int8_t)ap_size_class(number);
	else if (!strcmp(label->key, lifetime_key) && !strcmp(label->unit, "nanoseconds"))
		labels->labels.lifetime = (int8_t)ap_lifetime_class(number);
	else if (!strcmp(label->key, age_key) && !strcmp(label->unit, "percent"))
		labels->labels.age = (int8_t)ap_age_class(number, 100);
}

int ap_pprof_labels_finish(struct ap_pprof_labels *labels, struct ap_profile *profile)
{
	int thread;

	if (!labels->thread && !labels->tid)
		return 0;
	thread = ap_profile_add_thread(profile, labels->thread, labels->tid);
	labels->labels.thread = thread;
	return thread < 0 ? thread : 0;
}
