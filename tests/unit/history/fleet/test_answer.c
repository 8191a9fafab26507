// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of a Prometheus, whole and damaged, and the file of --http-config. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/fleet/http.h"
#include "history/fleet/scope.h"
#include "lib/http/server.h"
#include "tests/unit/unit.h"

/* ---- answers */

struct seen {
	size_t nr_series, nr_points, nr_numbers;
	char guest[64];
	double last;
	uint64_t last_ns;
};

static int take(void *arg, const struct answer_series *series)
{
	struct seen *seen = arg;

	seen->nr_series++;
	answer_label(series, "guest", seen->guest, sizeof(seen->guest));
	for (size_t i = 0; i < answer_points(series); i++) {
		seen->nr_points++;
		seen->nr_numbers += answer_point(series, i, &seen->last_ns, &seen->last);
	}
	return 0;
}

static int read_text(long status, const char *text, struct seen *ret_seen, struct error *error)
{
	*ret_seen = (struct seen){ .nr_series = 0 };
	error->text[0] = '\0';
	return answer_read(status, text, strlen(text), take, ret_seen, error);
}

#define MATRIX(labels, values) \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" \
	"{\"metric\":{" labels "},\"values\":[" values "]}]}}"

TEST(test_matrix)
{
	struct seen seen;
	struct error error;

	assert_int_equal(read_text(200, MATRIX("\"guest\":\" web\\u0007 1\"",
					       "[100,\"1.5\"],[115.25,\"9007199254740991\"]"),
				   &seen, &error), 0);
	assert_int_equal(seen.nr_series, 1);
	assert_int_equal(seen.nr_numbers, 2);
	assert_string_equal(seen.guest, "web? 1");
	assert_true(seen.last_ns == UINT64_C(115250000000));
	assert_true(seen.last == 9007199254740991.0);
}

TEST(test_vector)
{
	struct seen seen;
	struct error error;

	assert_int_equal(read_text(200, "{\"status\":\"success\",\"data\":{\"resultType\":"
					"\"vector\",\"result\":[{\"metric\":{},\"value\":"
					"[1.5,\"3\"]}]}}", &seen, &error), 0);
	assert_int_equal(seen.nr_numbers, 1);
	assert_true(seen.last == 3);
}

/* What is no number from 0 on is left out. */
TEST(test_no_numbers)
{
	static const char *const points[] = {
		"[1,\"NaN\"]", "[1,\"-1\"]", "[1,\"+Inf\"]", "[1,\"1e30\"]", "[1,\"\"]",
		"[1,\"12x\"]", "[1,null]", "[1,[]]", "[-1,\"1\"]", "[1e300,\"1\"]", "[\"x\",\"1\"]",
		"[1]", "[1,\"1\",\"2\"]", "{}", "7", "null",
	};
	char text[256];
	struct seen seen;
	struct error error;

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		snprintf(text, sizeof(text), MATRIX("\"guest\":7", "%s"), points[i]);
		assert_int_equal(read_text(200, text, &seen, &error), 0);
		assert_int_equal(seen.nr_points, 1);
		assert_int_equal(seen.nr_numbers, 0);
		assert_string_equal(seen.guest, "");
	}
}

TEST(test_nonsense)
{
	static const char *const texts[] = {
		"", "x", "{", "[]", "null", "{}", "<html>", "{\"status\":\"success\"}",
		"{\"status\":\"success\",\"data\":{}}",
		"{\"status\":\"success\",\"data\":{\"result\":{}}}",
		"{\"status\":\"success\",\"data\":{\"result\":[7]}}",
		"{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{}}]}}",
		"{\"status\":\"success\",\"data\":{\"result\":[{\"values\":[]}]}}",
		"{\"status\":\"success\",\"data\":{\"result\":[[[[[[[[[[]]]]]]]]]]}}",
	};
	struct seen seen;
	struct error error;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(read_text(200, texts[i], &seen, &error), -EBADMSG);
		assert_non_null(strstr(error.text, "not an answer of a Prometheus"));
		assert_int_equal(read_text(404, texts[i], &seen, &error), -EBADMSG);
	}
}

TEST(test_refused)
{
	struct seen seen;
	struct error error;

	assert_int_equal(read_text(401, "Unauthorized", &seen, &error), -EACCES);
	assert_non_null(strstr(error.text, "--http-config"));
	assert_int_equal(read_text(422, "{\"status\":\"error\",\"error\":\"too\\nmany\"}", &seen,
				   &error), -EINVAL);
	assert_string_equal(error.text, "the server refused the query: too?many");
	/* What answers there is no Prometheus, but what one scrapes. */
	assert_int_equal(read_text(405, "405: " SERVER_NAME " answers only GET and HEAD\n", &seen,
				   &error), -EBADMSG);
	assert_string_equal(error.text, "kvmtop export answers there, which a Prometheus scrapes: "
			    "give the address of that Prometheus");
}

/* A series is read with a parser that takes memory for each point: its text has a limit. */
TEST(test_too_long_a_series)
{
	struct seen seen;
	struct error error;

	for (unsigned int nr = 10000; nr <= 40000; nr += 30000) {
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		fputs("{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{},\"values\":[",
		      out);
		for (unsigned int i = 0; i < nr; i++)
			fprintf(out, "%s[%u,\"1\"]", i ? "," : "", 100 + i);
		fputs("]}]}}", out);
		fclose(out);
		assert_int_equal(read_text(200, text, &seen, &error), nr > 10000 ? -EBADMSG : 0);
		assert_int_equal(seen.nr_numbers, nr > 10000 ? 0 : nr);
		free(text);
	}
}

static int refuse(void *arg, const struct answer_series *series)
{
	(void)arg;
	(void)series;
	return -ENOMEM;
}

TEST(test_reader_ends_it)
{
	static const char text[] = MATRIX("", "");
	struct error error = { "" };

	assert_int_equal(answer_read(200, text, sizeof(text) - 1, refuse, NULL, &error), -ENOMEM);
}

/* ---- what is sent */

TEST(test_escape)
{
	char *text = http_escape("a b{=\xc3");

	assert_string_equal(text, "a%20b%7B%3D%C3");
	free(text);
}

/* ---- who asks */

static int parse(const char *text, struct http_access *access, struct error *error)
{
	*access = (struct http_access){ .user = NULL };
	error->text[0] = '\0';
	return access_parse(text, strlen(text), "/etc/x", access, error);
}

TEST(test_access)
{
	struct http_access access;
	struct error error;

	assert_int_equal(parse("basic_auth:\n  username: me\n  password: 'a b'\n"
			       "tls_config:\n  ca_file: ca.pem\n  cert_file: /c.pem\n"
			       "  insecure_skip_verify: true\nauthorization:\n",
			       &access, &error),
			 0);
	assert_string_equal(access.user, "me");
	assert_string_equal(access.password, "a b");
	assert_string_equal(access.ca_file, "/etc/x/ca.pem");
	assert_string_equal(access.cert_file, "/c.pem");
	assert_true(access.trusts_any);
	access_release(&access);
	assert_int_equal(parse("", &access, &error), 0);
	assert_int_equal(parse("authorization: {type: bearer, credentials: T}", &access, &error),
			 0);
	assert_string_equal(access.bearer, "T");
	access_release(&access);
}

TEST(test_headers)
{
	char path[] = "/tmp/test_answer.XXXXXX", text[256];
	int fd = mkstemp(path);
	struct http_access access;
	struct error error;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "c d\n", 4), 4);
	close(fd);
	snprintf(text, sizeof(text), "http_headers:\n  X-Scope-OrgID:\n    values: [a, b]\n"
		 "    secrets: [s]\n    files:\n    - %s\n  x_y: {values: ['']}\n"
		 "proxy_url: http://p:3128\n", path);
	assert_int_equal(parse(text, &access, &error), 0);
	assert_int_equal(access.nr_headers, 5);
	assert_string_equal(access.headers[0], "X-Scope-OrgID: a");
	assert_string_equal(access.headers[1], "X-Scope-OrgID: b");
	assert_string_equal(access.headers[2], "X-Scope-OrgID: s");
	assert_string_equal(access.headers[3], "X-Scope-OrgID: c d");
	assert_string_equal(access.headers[4], "x_y;");
	assert_string_equal(access.proxy_url, "http://p:3128");
	access_release(&access);
	unlink(path);
	assert_int_equal(parse(text, &access, &error), -ENOENT);
	assert_non_null(strstr(error.text, path));
	access_release(&access);
}

/* An alias makes long text of a short file. */
TEST(test_many_headers)
{
	char text[1024] = "http_headers: {a: {values: [&v x";
	struct http_access access;
	struct error error;

	for (int i = 0; i < 63; i++)
		strcat(text, ", *v");
	strcat(text, "]}}");
	assert_int_equal(parse(text, &access, &error), 0);
	assert_int_equal(access.nr_headers, 64);
	access_release(&access);
	strcpy(strchr(text, ']'), ", *v]}}");
	assert_int_equal(parse(text, &access, &error), -EINVAL);
	assert_non_null(strstr(error.text, "more headers than kvmtop sends"));
	access_release(&access);
}

TEST(test_token_file)
{
	char path[] = "/tmp/test_answer.XXXXXX", text[128];
	int fd = mkstemp(path);
	struct http_access access;
	struct error error;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "secret\n", 7), 7);
	close(fd);
	snprintf(text, sizeof(text), "authorization: {credentials_file: %s}", path);
	assert_int_equal(parse(text, &access, &error), 0);
	assert_string_equal(access.bearer, "secret");
	access_release(&access);
	unlink(path);
	assert_int_equal(parse(text, &access, &error), -ENOENT);
	assert_non_null(strstr(error.text, path));
}

TEST(test_access_refused)
{
	static const char *const texts[] = {
		"basic_auth:\n  user: me", "oauth2:\n  client_id: x", "a: [", "- x",
		"basic_auth: x",
		"basic_auth:\n  username: [a]", "authorization:\n  type: Digest",
		"tls_config:\n  insecure_skip_verify: maybe", "? [a]\n: b",
		"basic_auth: {username: me}\nauthorization: {credentials: T}",
		"proxy_url: [a]", "http_headers: x", "http_headers: {a: x}",
		"http_headers: {a: [x]}", "http_headers: {a: {values: x}}",
		"http_headers: {a: {values: [[x]]}}", "http_headers: {a: {words: [x]}}",
		"http_headers: {a: {values: [\"x\\ny: z\"]}}", "http_headers: {a: {files: ['']}}",
		"http_headers: {\"a: b\\r\\nc\": {values: [x]}}",
		"http_headers: {'': {values: [x]}}",
	};
	struct http_access access;
	struct error error;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(parse(texts[i], &access, &error), -EINVAL);
		assert_memory_equal(error.text, "line ", 5);
		access_release(&access);
	}
}
