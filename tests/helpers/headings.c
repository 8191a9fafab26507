// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * headings - prints the keys of the help page and the headings of all columns that a screen shows.
 *
 * usage: headings keys|columns
 */
#include <stdio.h>
#include <string.h>

#include "ui/screen/picture.h"
#include "core/views/view.h"

static void print_columns(const struct view_type *type)
{
	for (const struct column *column = type->columns; column->id; column++) {
		if (!column->is_for_machines)
			printf("%s\n", column_title(column));
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "keys") == 0) {
		for (const struct key_help *key = screen_keys; key->key; key++)
			printf("%s\n", key->key);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "columns") == 0) {
		for (size_t i = 0; view_type_at(i); i++)
			print_columns(view_type_at(i));
		print_columns(&view_hosts);
		return 0;
	}
	fprintf(stderr, "usage: headings keys|columns\n");
	return 2;
}
