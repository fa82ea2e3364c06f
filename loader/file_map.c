// SPDX-License-Identifier: MIT
#include "file_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"
#include "regular_file.h"
#include "symbolize.h"
#include "table.h"

#define MAPPINGS_MAX 16384

static struct ap_object *object_new(const char *path, const char *build_id)
{
	struct ap_object *object = calloc(1, sizeof(*object));
	struct stat status;

	if (!object)
		return NULL;
	object->path = strdup(path);
	object->fd = ap_regular_open(AP_ROOT_OURS, path, true, &status);
	if (!object->path) {
		ap_object_free(object);
		return NULL;
	}
	if (object->fd >= 0)
		ap_build_id_read(object->fd, object->build_id);
	if (*build_id && strcmp(build_id, object->build_id)) {
		/* It has another build id: another file has taken its place. */
		if (object->fd >= 0)
			close(object->fd);
		object->fd = -1;
		snprintf(object->build_id, sizeof(object->build_id), "%s", build_id);
	}
	return object;
}

static int object_get(
	struct ap_file_map *map, const char *path, const char *build_id, struct ap_object **ret)
{
	/* The mappings of one file follow each other. */
	for (uint32_t i = map->object_count; i-- > 0;) {
		*ret = map->objects[i];
		if (strcmp((*ret)->path, path) == 0 &&
			(!*build_id || strcmp((*ret)->build_id, build_id) == 0))
			return 0;
	}
	if (ap_array_grow((void **)&map->objects, map->object_count, &map->object_room,
		    sizeof(*map->objects)))
		return -ENOMEM;
	*ret = object_new(path, build_id);
	if (!*ret)
		return -ENOMEM;
	map->objects[map->object_count++] = *ret;
	return 0;
}

int ap_file_map_add(struct ap_file_map *map, uint64_t start, uint64_t end, uint64_t offset,
	const char *path, const char *build_id, const struct ap_mapping **ret)
{
	struct ap_mapping *mapping;
	int err;

	if (map->count == MAPPINGS_MAX)
		return -E2BIG;
	if (ap_array_grow((void **)&map->mappings, map->count, &map->mapping_room,
		    sizeof(*map->mappings)))
		return -ENOMEM;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return -ENOMEM;
	*mapping = (struct ap_mapping){
		.id = map->count, .start = start, .end = end, .offset = offset, .name = "[anon]"};
	if (*path == '/') {
		err = object_get(map, path, build_id, &mapping->object);
		if (err) {
			free(mapping);
			return err;
		}
		mapping->name = mapping->object->path;
	}
	map->mappings[map->count++] = mapping;
	map->sorted = false;
	if (ret)
		*ret = mapping;
	return 0;
}

static int mapping_compare(const void *a, const void *b)
{
	const struct ap_mapping *x = *(struct ap_mapping *const *)a;
	const struct ap_mapping *y = *(struct ap_mapping *const *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

const struct ap_mapping *ap_file_map_find(struct ap_file_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->count;

	if (!map->count)
		return NULL;
	if (!map->sorted)
		qsort(map->mappings, map->count, sizeof(*map->mappings), mapping_compare);
	map->sorted = true;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (map->mappings[middle]->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && map->mappings[low - 1]->end > address ? map->mappings[low - 1] : NULL;
}

int ap_file_map_location(struct ap_file_map *map, struct ap_profile *profile,
	const struct ap_mapping *mapping, uint64_t address, bool is_return)
{
	if (!map->symbolizer)
		map->symbolizer = ap_symbolizer_new();
	if (!map->symbolizer)
		return -ENOMEM;
	return ap_symbolize_location(map->symbolizer, profile, mapping, address, is_return);
}

void ap_file_map_clear(struct ap_file_map *map)
{
	if (map->symbolizer)
		ap_symbolizer_keep(map->symbolizer);
	ap_symbolizer_free(map->symbolizer);
	for (uint32_t i = 0; i < map->count; i++)
		free(map->mappings[i]);
	for (uint32_t i = 0; i < map->object_count; i++)
		ap_object_free(map->objects[i]);
	free(map->mappings);
	free(map->objects);
	*map = (struct ap_file_map){0};
}
