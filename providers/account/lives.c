// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the programs on the begin and the end of VMs, and reads what they write. */
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "lib/xalloc.h"
#include "providers/account/lives.h"
#include "providers/account/lives.skel.h"
#include "providers/bpf/bpf.h"

struct account_lives {
	struct account_lives_config config;
	struct lives_program *program;
	struct ring_buffer *ring;
};

static int take_life(void *arg, void *record, size_t size)
{
	const struct account_lives *lives = arg;
	const struct account_begun *begun = record;
	const struct account_ended *ended = record;

	if (begun->kind == ACCOUNT_BEGUN && size >= sizeof(*begun))
		lives->config.begun(lives->config.arg, begun);
	else if (begun->kind == ACCOUNT_ENDED && size >= sizeof(*ended) + ended->head.size)
		lives->config.ended(lives->config.arg, &ended->head, ended->bytes);
	return 0;
}

static bool load_program(struct account_lives *lives)
{
	lives->program = lives_program__open();
	if (!lives->program)
		return false;
	bpf_program__set_autoload(lives->program->progs.on_end, lives->config.ended);
	bpf_program__set_autoload(lives->program->progs.on_vcpu_end, lives->config.ended);
	if (lives_program__load(lives->program) || lives_program__attach(lives->program))
		return false;
	lives->ring =
		ring_buffer__new(bpf_map__fd(lives->program->maps.lives), take_life, lives, NULL);
	return lives->ring != NULL;
}

struct account_lives *account_lives_new(const struct account_lives_config *config)
{
	struct account_lives *lives = xcalloc(1, sizeof(*lives));

	bpf_be_quiet();
	lives->config = *config;
	if (load_program(lives))
		return lives;
	account_lives_free(lives);
	return NULL;
}

void account_lives_free(struct account_lives *lives)
{
	if (!lives)
		return;
	ring_buffer__free(lives->ring);
	lives_program__destroy(lives->program);
	free(lives);
}

void account_lives_read(struct account_lives *lives)
{
	if (lives)
		ring_buffer__consume(lives->ring);
}
