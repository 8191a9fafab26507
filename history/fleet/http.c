// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libcurl, loaded by name: one handle for each query, all driven by one loop. And user, password,
 * TLS, headers and proxy, from a file.
 */
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/process.h"
#include "lib/settings.h"
#include "history/fleet/http.h"

#define LIBRARY "libcurl.so.4"
#define LIBRARY_GNUTLS "libcurl-gnutls.so.4" /* Debian has both */
#define POLL_MS 1000

/* The functions of the library that are used. */
struct library {
	void *handle;
	__typeof__(&curl_global_init) global_init;
	__typeof__(&curl_easy_init) easy_init;
	CURLcode (*setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*getinfo)(CURL *easy, CURLINFO info, ...);
	__typeof__(&curl_easy_strerror) strerror;
	__typeof__(&curl_easy_cleanup) easy_cleanup;
	__typeof__(&curl_slist_append) slist_append;
	__typeof__(&curl_slist_free_all) slist_free_all;
	__typeof__(&curl_multi_init) multi_init;
	__typeof__(&curl_multi_add_handle) add;
	__typeof__(&curl_multi_remove_handle) remove;
	__typeof__(&curl_multi_perform) perform;
	__typeof__(&curl_multi_poll) poll;
	__typeof__(&curl_multi_wakeup) wakeup;
	__typeof__(&curl_multi_info_read) info_read;
	__typeof__(&curl_multi_cleanup) multi_cleanup;
};

struct http {
	struct library library;
	char *url;
	struct http_access access;
	struct curl_slist *headers;
	CURLM *multi; /* keeps connections */
	size_t received; /* bytes of the answers of this call */
	atomic_bool is_stopped;
};

/* A query that waits for its answer. */
struct transfer {
	struct http *http;
	struct http_query *query;
	CURL *easy;
	char *url;
	long timeout_ms;
	char reason[CURL_ERROR_SIZE];
	bool is_too_large;
};

/* ---- the library */

static int load_library(struct library *library, struct error *error)
{
	static const char *const names[] = { LIBRARY, LIBRARY_GNUTLS, NULL };
	const struct library_function all[] = {
		{ "curl_global_init", &library->global_init },
		{ "curl_easy_init", &library->easy_init },
		{ "curl_easy_setopt", &library->setopt },
		{ "curl_easy_getinfo", &library->getinfo },
		{ "curl_easy_strerror", &library->strerror },
		{ "curl_easy_cleanup", &library->easy_cleanup },
		{ "curl_slist_append", &library->slist_append },
		{ "curl_slist_free_all", &library->slist_free_all },
		{ "curl_multi_init", &library->multi_init },
		{ "curl_multi_add_handle", &library->add },
		{ "curl_multi_remove_handle", &library->remove },
		{ "curl_multi_perform", &library->perform },
		{ "curl_multi_poll", &library->poll },
		{ "curl_multi_wakeup", &library->wakeup },
		{ "curl_multi_info_read", &library->info_read },
		{ "curl_multi_cleanup", &library->multi_cleanup },
	};
	int err = library_load(names, all, ARRAY_SIZE(all), &library->handle, error);

	if (err == -ENOENT)
		return error_set(error, err,
				 "-r URL needs " LIBRARY ", which cannot be loaded here: install "
				 "libcurl; the static program has no -r URL");
	if (err)
		return err;
	return library->global_init(CURL_GLOBAL_DEFAULT) ?
		       error_set(error, -EIO, "libcurl cannot be initialized") : 0;
}

static char *whole_url(const char *url)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	return xasprintf("%s%.*s", strstr(url, "://") ? "" : "http://", (int)len, url);
}

static void add_header(struct http *http, const char *header)
{
	http->headers = http->library.slist_append(http->headers, header);
	if (!http->headers)
		out_of_memory();
}

int http_open(const char *url, const struct http_access *access, struct http **ret_http,
	      struct error *error)
{
	struct http *http = xcalloc(1, sizeof(*http));
	int err = load_library(&http->library, error);

	http->access = *access;
	http->url = whole_url(url);
	if (!err) {
		http->multi = http->library.multi_init();
		if (!http->multi)
			out_of_memory();
		for (size_t i = 0; i < access->nr_headers; i++)
			add_header(http, access->headers[i]);
	}
	if (err)
		http_close(http);
	else
		*ret_http = http;
	return err;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	if (http->multi)
		http->library.multi_cleanup(http->multi);
	if (http->headers)
		http->library.slist_free_all(http->headers);
	free(http->url);
	free(http); /* the library stays: a thread of it may be looking up a name */
}

void http_stop(struct http *http)
{
	http->is_stopped = true;
	http->library.wakeup(http->multi);
}

/* ---- one transfer */

static size_t take_bytes(char *bytes, size_t size, size_t nr, void *arg)
{
	struct transfer *transfer = arg;
	struct http_query *query = transfer->query;

	size *= nr;
	transfer->is_too_large = size > HTTP_ANSWER_MAX - transfer->http->received;
	if (transfer->is_too_large)
		return 0;
	array_grow_unset(&query->body, &query->room, query->size + size);
	memcpy(query->body + query->size, bytes, size);
	query->size += size;
	transfer->http->received += size;
	return size;
}

/* User, password, token, TLS, proxy and headers. */
static CURLcode set_access(const struct http *http, CURL *easy)
{
	const struct library *library = &http->library;
	const struct http_access *access = &http->access;
	CURLcode code = CURLE_OK;

	if (access->bearer) {
		code = library->setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		code = code ? code : library->setopt(easy, CURLOPT_XOAUTH2_BEARER, access->bearer);
	} else if (access->user) {
		code = library->setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		code = code ? code : library->setopt(easy, CURLOPT_USERNAME, access->user);
		code = code ? code : library->setopt(easy, CURLOPT_PASSWORD,
						     access->password ? access->password : "");
	}
	if (!code && access->ca_file)
		code = library->setopt(easy, CURLOPT_CAINFO, access->ca_file);
	if (!code && access->cert_file)
		code = library->setopt(easy, CURLOPT_SSLCERT, access->cert_file);
	if (!code && access->key_file)
		code = library->setopt(easy, CURLOPT_SSLKEY, access->key_file);
	if (!code && access->trusts_any) {
		code = library->setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		code = code ? code : library->setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (!code && access->proxy_url) {
		code = library->setopt(easy, CURLOPT_PROXY, access->proxy_url);
		/* As for promtool, no_proxy of the environment is for a proxy from there. */
		code = code ? code : library->setopt(easy, CURLOPT_NOPROXY, "");
	}
	if (!code && http->headers)
		code = library->setopt(easy, CURLOPT_HTTPHEADER, http->headers);
	return code;
}

static CURLcode set_options(const struct http *http, struct transfer *transfer)
{
	__typeof__(http->library.setopt) set = http->library.setopt;
	CURL *easy = transfer->easy;
	CURLcode code = set(easy, CURLOPT_URL, transfer->url);

	code = code ? code : set(easy, CURLOPT_POSTFIELDS, transfer->query->form);
	code = code ? code : set(easy, CURLOPT_WRITEFUNCTION, take_bytes);
	code = code ? code : set(easy, CURLOPT_WRITEDATA, transfer);
	code = code ? code : set(easy, CURLOPT_ERRORBUFFER, transfer->reason);
	code = code ? code : set(easy, CURLOPT_PRIVATE, transfer);
	code = code ? code : set(easy, CURLOPT_TIMEOUT_MS, transfer->timeout_ms);
	code = code ? code : set(easy, CURLOPT_NOSIGNAL, 1L);
	code = code ? code : set(easy, CURLOPT_ACCEPT_ENCODING, "");
	code = code ? code : set(easy, CURLOPT_USERAGENT, "kvmtop/" KVMTOP_VERSION);
	return code ? code : set_access(http, easy);
}

static int transfer_begin(struct http *http, struct transfer *transfer, struct error *error)
{
	struct http_query *query = transfer->query;
	CURLcode code;

	query->size = 0;
	query->status = 0;
	transfer->url = xasprintf("%s%s", http->url, query->path);
	transfer->easy = http->library.easy_init();
	if (!transfer->easy)
		out_of_memory();
	code = set_options(http, transfer);
	if (code)
		return error_set(error, -EIO, "%s: %s", http->url, http->library.strerror(code));
	if (http->library.add(http->multi, transfer->easy))
		out_of_memory();
	return 0;
}

static void transfer_end(struct http *http, struct transfer *transfer)
{
	if (transfer->easy) {
		http->library.remove(http->multi, transfer->easy);
		http->library.easy_cleanup(transfer->easy);
	}
	free(transfer->url);
}

static int failure(const struct http *http, const struct transfer *transfer, CURLcode code,
		   struct error *error)
{
	const char *reason = transfer->reason[0] ? transfer->reason :
						   http->library.strerror(code);

	if (transfer->is_too_large)
		return error_set(error, -EFBIG, "%s: the answers are larger than %zu MiB",
				 http->url, HTTP_ANSWER_MAX >> 20);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return error_set(error, -ETIMEDOUT, "%s has not answered within %ld s", http->url,
				 transfer->timeout_ms / 1000);
	return error_set(error, -EIO, "%s: %s", http->url, reason);
}

/* Takes what has ended. */
static int take_ended(struct http *http, struct error *error)
{
	int left, err = 0;
	CURLMsg *message;

	while (!err && (message = http->library.info_read(http->multi, &left))) {
		char *private = NULL;
		struct transfer *transfer;

		if (message->msg != CURLMSG_DONE)
			continue;
		http->library.getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
		transfer = (struct transfer *)(void *)private;
		http->library.getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE,
				      &transfer->query->status);
		if (message->data.result)
			err = failure(http, transfer, message->data.result, error);
	}
	return err;
}

static int run(struct http *http, struct error *error)
{
	int nr_running = 1, err = 0;

	while (!err && nr_running) {
		if (http->is_stopped)
			return -ECANCELED;
		if (http->library.perform(http->multi, &nr_running) != CURLM_OK)
			return error_set(error, -EIO, "%s: libcurl failed", http->url);
		err = take_ended(http, error);
		if (!err && nr_running)
			http->library.poll(http->multi, NULL, 0, POLL_MS, NULL);
	}
	return err;
}

int http_send(struct http *http, struct http_query *queries, size_t nr, long timeout_ms,
	      struct error *error)
{
	struct transfer *transfers = xcalloc(nr, sizeof(*transfers));
	int err = 0;

	http->received = 0;
	for (size_t i = 0; !err && i < nr; i++) {
		transfers[i].http = http;
		transfers[i].query = &queries[i];
		transfers[i].timeout_ms = timeout_ms;
		err = transfer_begin(http, &transfers[i], error);
	}
	if (!err)
		err = run(http, error);
	for (size_t i = 0; i < nr; i++)
		transfer_end(http, &transfers[i]);
	free(transfers);
	return err;
}

void http_drop(struct http_query *queries, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(queries[i].form);
		free(queries[i].body);
	}
}

const char *http_url(const struct http *http)
{
	return http->url;
}

char *http_escape(const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	char *escaped = xmalloc(3 * strlen(text) + 1), *at = escaped;

	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
				(byte >= '0' && byte <= '9') || strchr("-._~", byte);

		if (is_plain) {
			*at++ = *text;
			continue;
		}
		*at++ = '%';
		*at++ = digits[byte >> 4];
		*at++ = digits[byte & 15];
	}
	*at = '\0';
	return escaped;
}

/* ---- access: a table says what the keys of the file mean */

#define FILE_MAX (1 << 20)
#define HEADERS_MAX 64 /* an alias of YAML can repeat a long value */
#define HEADER_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

enum value { VALUE_TEXT, VALUE_PATH, VALUE_CONTENTS, VALUE_BOOL, VALUE_BEARER };

#define TO(member) offsetof(struct http_access, member)

static const struct access_key {
	const char *section, *name;
	enum value value;
	size_t to;
} keys[] = {
	{ "basic_auth", "username", VALUE_TEXT, TO(user) },
	{ "basic_auth", "password", VALUE_TEXT, TO(password) },
	{ "basic_auth", "password_file", VALUE_CONTENTS, TO(password) },
	{ "authorization", "type", VALUE_BEARER, 0 },
	{ "authorization", "credentials", VALUE_TEXT, TO(bearer) },
	{ "authorization", "credentials_file", VALUE_CONTENTS, TO(bearer) },
	{ "tls_config", "ca_file", VALUE_PATH, TO(ca_file) },
	{ "tls_config", "cert_file", VALUE_PATH, TO(cert_file) },
	{ "tls_config", "key_file", VALUE_PATH, TO(key_file) },
	{ "tls_config", "insecure_skip_verify", VALUE_BOOL, TO(trusts_any) },
	{ "the file", "proxy_url", VALUE_TEXT, TO(proxy_url) },
};

/* The first line of the file that the setting names. */
static int take_contents(const struct setting *setting, char **text)
{
	char *path = NULL, *line;
	size_t size;
	int err = setting_path(setting, &path);

	if (err || !path)
		return err;
	err = read_whole(path, FILE_MAX, &line, &size);
	if (err) {
		error_set(setting->error, err, "%s: %s", path, strerror(-err));
	} else {
		line[strcspn(line, "\r\n")] = '\0';
		free(*text);
		*text = line;
	}
	free(path);
	return err;
}

static int take_value(const struct setting *setting, const struct access_key *key)
{
	const char *text = setting_text(setting);
	void *to = (char *)setting->to + key->to;

	if (!text)
		return -EINVAL;
	switch (key->value) {
	case VALUE_TEXT:
		free(*(char **)to);
		*(char **)to = xstrdup(text);
		return 0;
	case VALUE_PATH:
		return setting_path(setting, to);
	case VALUE_CONTENTS:
		return take_contents(setting, to);
	case VALUE_BOOL:
		*(bool *)to = strcmp(text, "true") == 0;
		if (*(bool *)to || strcmp(text, "false") == 0)
			return 0;
		return setting_bad(setting, "the value must be true or false");
	case VALUE_BEARER:
		break;
	}
	if (strcasecmp(text, "Bearer") == 0)
		return 0;
	return setting_bad(setting, "the only type is Bearer");
}

static int take_key(const struct setting *setting)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].section, setting->parent->key) == 0 &&
		    strcmp(keys[i].name, setting->key) == 0)
			return take_value(setting, &keys[i]);
	}
	return setting_bad(setting, "kvmtop has no such setting; man kvmtop-export lists "
				    "--http-config");
}

/* A value of a header: its text, or the first line of the file that it names. */
static int take_header(const struct setting *setting)
{
	struct http_access *access = setting->to;
	const char *name = setting->parent->key, *text = setting_text(setting);
	char *value = NULL;
	int err = 0;

	if (!text)
		return -EINVAL;
	if (strcmp(setting->key, "files") == 0)
		err = take_contents(setting, &value);
	else
		value = xstrdup(text);
	if (!err && (!value || value[strcspn(value, "\r\n")]))
		err = setting_bad(setting, "each value must be one line");
	if (!err && access->nr_headers == HEADERS_MAX)
		err = setting_bad(setting, "there are more headers than kvmtop sends");
	if (!err) {
		access->headers = xreallocarray(access->headers, access->nr_headers + 1,
						sizeof(*access->headers));
		access->headers[access->nr_headers++] = *value ? xasprintf("%s: %s", name, value) :
							xasprintf("%s;", name);
	}
	free(value);
	return err;
}

static int take_values(const struct setting *setting)
{
	static const char *const names[] = { "values", "secrets", "files" };
	const char *header = setting->parent->key;

	if (!*header || header[strspn(header, HEADER_CHARS)])
		return setting_bad(setting->parent, "a header's name has letters, digits, - and _");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(setting->key, names[i]) == 0)
			return setting_items(setting, take_header);
	}
	return setting_bad(setting, "a header has values, secrets and files");
}

static int take_headers(const struct setting *setting)
{
	return setting_each(setting, take_values);
}

static int take_section(const struct setting *setting)
{
	const struct http_access *access = setting->to;
	int err;

	if (strcmp(setting->key, "proxy_url") == 0)
		err = take_key(setting);
	else
		err = setting_each(setting, strcmp(setting->key, "http_headers") == 0 ?
						    take_headers : take_key);
	if (!err && access->bearer && (access->user || access->password))
		return setting_bad(setting, "basic_auth and authorization: give only one of them");
	return err;
}

int access_parse(const char *text, size_t size, const char *folder, struct http_access *access,
		 struct error *error)
{
	return settings_parse(text, size, folder, take_section, access, error);
}

int access_read(const char *path, struct http_access *access, struct error *error)
{
	return settings_read(path, take_section, access, error);
}

void access_release(struct http_access *access)
{
	free(access->user);
	free(access->password);
	free(access->bearer);
	free(access->ca_file);
	free(access->cert_file);
	free(access->key_file);
	free(access->proxy_url);
	for (size_t i = 0; i < access->nr_headers; i++)
		free(access->headers[i]);
	free(access->headers);
	*access = (struct http_access){ .user = NULL };
}
