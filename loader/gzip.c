// SPDX-License-Identifier: MIT
#include "gzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "error.h"

#define PIECE 65536
/* For zlib: a window of 32 KiB, and the gzip format rather than its own. */
#define GZIP_WINDOW (15 + 16)

struct ap_gzip_writer {
	FILE *out;
	z_stream stream;
	int err;
	uint8_t piece[PIECE];
};

struct ap_gzip_writer *ap_gzip_begin(FILE *out)
{
	struct ap_gzip_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->out = out;
	if (deflateInit2(&writer->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
		    Z_DEFAULT_STRATEGY) != Z_OK) {
		free(writer);
		return NULL;
	}
	return writer;
}

static int stream_error(void)
{
	return ap_errno();
}

static void gzip_deflate(struct ap_gzip_writer *writer, int flush)
{
	do {
		size_t length;

		writer->stream.next_out = writer->piece;
		writer->stream.avail_out = PIECE;
		if (deflate(&writer->stream, flush) == Z_STREAM_ERROR) {
			writer->err = -EIO;
			return;
		}
		length = PIECE - writer->stream.avail_out;
		errno = 0;
		if (fwrite(writer->piece, 1, length, writer->out) != length) {
			writer->err = stream_error();
			return;
		}
	} while (writer->stream.avail_out == 0);
}

void ap_gzip_write(struct ap_gzip_writer *writer, const void *bytes, size_t length)
{
	const uint8_t *next = bytes;

	while (length && !writer->err) {
		size_t part = length < UINT32_MAX ? length : UINT32_MAX;

		writer->stream.next_in = (Bytef *)next;
		writer->stream.avail_in = (uInt)part;
		gzip_deflate(writer, Z_NO_FLUSH);
		next += part;
		length -= part;
	}
}

int ap_gzip_end(struct ap_gzip_writer *writer)
{
	int err;

	if (!writer->err)
		gzip_deflate(writer, Z_FINISH);
	errno = 0;
	if (!writer->err && fflush(writer->out))
		writer->err = stream_error();
	err = writer->err;
	deflateEnd(&writer->stream);
	free(writer);
	return err;
}

/* What has been read so far; it doubles up to the limit. */
struct buffer {
	uint8_t *bytes;
	size_t length, room, limit;
};

/* Makes room for at least one more byte. One byte beyond the limit tells "at" from "over". */
static int buffer_grow(struct buffer *buffer)
{
	size_t most = buffer->limit + 1, room = buffer->room ? buffer->room * 2 : PIECE;
	uint8_t *bytes;

	if (buffer->length < buffer->room)
		return 0;
	if (buffer->length == most)
		return -E2BIG;
	if (room > most)
		room = most;
	bytes = realloc(buffer->bytes, room);
	if (!bytes)
		return -ENOMEM;
	buffer->bytes = bytes;
	buffer->room = room;
	return 0;
}

static int read_plain(FILE *in, struct buffer *buffer)
{
	int err;

	while (!(err = buffer_grow(buffer))) {
		size_t length;

		errno = 0;
		length =
			fread(buffer->bytes + buffer->length, 1, buffer->room - buffer->length, in);
		if (!length)
			return ferror(in) ? stream_error() : 0;
		buffer->length += length;
	}
	return err;
}

static int inflate_piece(z_stream *stream, struct buffer *buffer, bool *inside)
{
	bool full = false;

	/* With the output full, zlib may have more of it although it has taken all input. */
	while (stream->avail_in || (full && *inside)) {
		size_t room;
		int err = buffer_grow(buffer), status;

		if (err)
			return err;
		room = buffer->room - buffer->length;
		if (room > UINT32_MAX)
			room = UINT32_MAX;
		stream->next_out = buffer->bytes + buffer->length;
		stream->avail_out = (uInt)room;
		*inside = true;
		status = inflate(stream, Z_NO_FLUSH);
		buffer->length += room - stream->avail_out;
		full = stream->avail_out == 0;
		if (status == Z_STREAM_END) {
			*inside = false;
			inflateReset(stream);
		} else if (status == Z_MEM_ERROR) {
			return -ENOMEM;
		} else if (status != Z_OK && status != Z_BUF_ERROR) {
			return -EBADMSG;
		}
	}
	return 0;
}

static int read_gzip(FILE *in, const uint8_t *start, size_t length, struct buffer *buffer)
{
	uint8_t *piece = malloc(PIECE);
	z_stream stream = {0};
	bool inside = false;
	int err = 0;

	if (!piece)
		return -ENOMEM;
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
		free(piece);
		return -ENOMEM;
	}
	memcpy(piece, start, length);
	do {
		stream.next_in = piece;
		stream.avail_in = (uInt)length;
		err = inflate_piece(&stream, buffer, &inside);
		if (err)
			break;
		errno = 0;
		length = fread(piece, 1, PIECE, in);
		if (!length && ferror(in))
			err = stream_error();
	} while (length && !err);
	if (!err && inside)
		err = -EBADMSG;
	inflateEnd(&stream);
	free(piece);
	return err;
}

int ap_gzip_read(FILE *in, size_t limit, uint8_t **ret, size_t *ret_length)
{
	struct buffer buffer = {.limit = limit};
	uint8_t magic[2];
	size_t length;
	int err;

	errno = 0;
	length = fread(magic, 1, sizeof(magic), in);
	if (ferror(in))
		return stream_error();
	if (length == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
		err = read_gzip(in, magic, length, &buffer);
	} else {
		err = buffer_grow(&buffer);
		if (!err) {
			memcpy(buffer.bytes, magic, length);
			buffer.length = length;
			err = read_plain(in, &buffer);
		}
	}
	if (!err && buffer.length > limit)
		err = -E2BIG;
	if (err) {
		free(buffer.bytes);
		return err;
	}
	*ret = buffer.bytes;
	*ret_length = buffer.length;
	return 0;
}
