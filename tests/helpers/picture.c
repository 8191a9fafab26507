// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * picture - reads a picture that kvmtop timeline made, checks it, and prints the exits in it.
 *
 * usage: picture FILE
 *
 * A line for each thread and reason: TID REASON COUNT NS CUT. COUNT is of all its slices, CUT of
 * those that the recording cuts off; NS is the time of the others. Exit status 1, and why on
 * stderr, where it is no JSON, a slice leaves its parent or an exit is within anything.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "trace/timeline/timeline.h"

#define MAX_DEPTH 64

struct slice {
	const char *name, *category;
	int64_t process, track;
	uint64_t ns, dur_ns;
	size_t place; /* in the file */
};

struct sum {
	const char *name;
	int64_t track;
	uint64_t count, ns, cut;
};

struct picture {
	struct json_object *root;
	struct slice *slices;
	size_t nr;
	struct sum *sums; /* as many as slices at most */
	size_t nr_sums;
};

static const char *text_of(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) ? json_object_get_string(value) :
								 "";
}

static bool read_slice(struct json_object *object, size_t place, struct slice *ret_slice)
{
	*ret_slice = (struct slice){
		.name = text_of(object, "name"),
		.category = text_of(object, "cat"),
		.process = atoll(text_of(object, "pid")),
		.track = atoll(text_of(object, "tid")),
		.place = place,
	};
	return functions_time(text_of(object, "ts"), &ret_slice->ns) &&
	       functions_time(text_of(object, "dur"), &ret_slice->dur_ns);
}

static bool read_slices(struct picture *picture, const char *path)
{
	struct json_object *list;
	size_t nr;

	picture->root = json_object_from_file(path);
	if (!json_object_object_get_ex(picture->root, "traceEvents", &list)) {
		fprintf(stderr, "%s: no JSON with traceEvents: %s\n", path,
			json_util_get_last_err());
		return false;
	}
	nr = json_object_array_length(list);
	picture->slices = calloc(nr + 1, sizeof(*picture->slices));
	picture->sums = calloc(nr + 1, sizeof(*picture->sums));
	for (size_t i = 0; picture->slices && picture->sums && i < nr; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);

		if (strcmp(text_of(object, "ph"), "X") != 0)
			continue;
		if (!read_slice(object, i, &picture->slices[picture->nr++])) {
			fprintf(stderr, "%s: not in time: %s\n", path,
				json_object_to_json_string(object));
			return false;
		}
	}
	return picture->slices && picture->sums;
}

/* As readers sort them: by track and time, those of one time as in the file. */
static int compare(const void *a, const void *b)
{
	const struct slice *one = a, *other = b;

	if (one->process != other->process)
		return one->process < other->process ? -1 : 1;
	if (one->track != other->track)
		return one->track < other->track ? -1 : 1;
	if (one->ns != other->ns)
		return one->ns < other->ns ? -1 : 1;
	return one->place < other->place ? -1 : one->place > other->place;
}

static bool is_exit(const struct slice *slice)
{
	return strncmp(slice->category, "kvm", 3) == 0 &&
	       (!slice->category[3] || strcmp(slice->category, "kvm,cut") == 0);
}

/*
 * Each slice is within the slice that is open on its track when it begins, or after it; exits are
 * in no slice.
 */
static bool slices_nest(const struct picture *picture)
{
	uint64_t ends[MAX_DEPTH];
	size_t depth = 0;

	for (size_t i = 0; i < picture->nr; i++) {
		const struct slice *slice = &picture->slices[i];
		uint64_t end = slice->ns + slice->dur_ns;

		if (i && (slice[-1].process != slice->process || slice[-1].track != slice->track))
			depth = 0;
		while (depth && ends[depth - 1] <= slice->ns)
			depth--;
		if (depth == MAX_DEPTH || (depth && (end > ends[depth - 1] || is_exit(slice)))) {
			fprintf(stderr, "%s at %" PRIu64 " ns of thread %" PRId64
					" is not where it belongs\n",
				slice->name, slice->ns, slice->track);
			return false;
		}
		ends[depth++] = end;
	}
	return true;
}

static struct sum *sum_of(struct picture *picture, const struct slice *slice)
{
	struct sum *sum = picture->sums;

	for (; sum < picture->sums + picture->nr_sums; sum++) {
		if (sum->track == slice->track && strcmp(sum->name, slice->name) == 0)
			return sum;
	}
	picture->nr_sums++;
	*sum = (struct sum){ .name = slice->name, .track = slice->track };
	return sum;
}

static void print_sums(struct picture *picture)
{
	for (size_t i = 0; i < picture->nr; i++) {
		const struct slice *slice = &picture->slices[i];
		bool is_cut = slice->category[3];
		struct sum *sum;

		if (!is_exit(slice))
			continue;
		sum = sum_of(picture, slice);
		sum->count++;
		sum->cut += is_cut;
		sum->ns += is_cut ? 0 : slice->dur_ns;
	}
	for (const struct sum *sum = picture->sums; sum < picture->sums + picture->nr_sums; sum++)
		printf("%" PRId64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sum->track,
		       sum->name, sum->count, sum->ns, sum->cut);
}

int main(int argc, char **argv)
{
	struct picture picture = { 0 };
	bool is_good;

	if (argc != 2) {
		fprintf(stderr, "usage: picture FILE\n");
		return 2;
	}
	is_good = read_slices(&picture, argv[1]);
	if (is_good) {
		qsort(picture.slices, picture.nr, sizeof(*picture.slices), compare);
		is_good = slices_nest(&picture);
	}
	if (is_good)
		print_sums(&picture);
	free(picture.slices);
	free(picture.sums);
	json_object_put(picture.root);
	return is_good ? 0 : 1;
}
