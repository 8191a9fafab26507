// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs libmicrohttpd's loop, and answers its clients. */
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/process.h"
#include "lib/http/server.h"
#include "lib/http/access.h"
#include "lib/xalloc.h"

#define CONNECTION_BYTES 8192 /* of a request's header, and of what is sent at a time */
#define TIMEOUT_S 10
#define REQUEST_S 20 /* for a request and its answer, however little is said at a time */
#define CONNECTIONS_OF_ADDRESS 64
#define LOOK_MS 1000 /* between two looks for clients that had their time */
#define NS_PER_S UINT64_C(1000000000)
#define PEM_MAX (1 << 20)
#define LIBRARY "libmicrohttpd.so.12"

/* Its functions, by name. */
struct library {
	__typeof__(&MHD_start_daemon) start_daemon;
	__typeof__(&MHD_stop_daemon) stop_daemon;
	__typeof__(&MHD_run) run;
	__typeof__(&MHD_get_timeout) get_timeout;
	__typeof__(&MHD_get_daemon_info) daemon_info;
	__typeof__(&MHD_get_connection_info) connection_info;
	__typeof__(&MHD_suspend_connection) suspend;
	__typeof__(&MHD_resume_connection) resume;
	__typeof__(&MHD_create_response_from_buffer_with_free_callback) create_response;
	__typeof__(&MHD_add_response_header) add_header;
	__typeof__(&MHD_queue_response) queue_response;
	__typeof__(&MHD_destroy_response) destroy_response;
	__typeof__(&MHD_lookup_connection_value) lookup_value;
	__typeof__(&MHD_basic_auth_get_username_password) get_password;
	__typeof__(&MHD_free) free;
	__typeof__(&MHD_is_feature_supported) has_feature;
};

struct server {
	struct server_config config;
	struct library library;
	struct web_config web;
	struct passwords *passwords; /* of the users, if there are any */
	char *cert, *key;	     /* PEM; NULL: no TLS */
	struct MHD_Daemon *daemon;
	struct listener listener; /* fd -1: not yet, or the daemon has it */
	pthread_t thread;
	bool has_thread;
	int wake_fd; /* an eventfd, for the end */
	atomic_bool is_ending;
	struct visitor *visitors; /* the thread's */
};

/* A client's connection. */
struct visitor {
	struct visitor *prev, *next;
	struct server *server;
	struct MHD_Connection *connection;
	int fd;
	uint64_t since_ns; /* its connection, or its latest answer */
	struct login login;
	bool waits; /* for the answer of the login, which is of this request */
};

/* ---- answers */

static void drop_bytes(void *bytes)
{
	document_drop((struct document *)((char *)bytes - offsetof(struct document, bytes)));
}

static const char *words_of(unsigned int status)
{
	switch (status) {
	case MHD_HTTP_UNAUTHORIZED:
		return "401: a user and a password are needed\n";
	case MHD_HTTP_NOT_FOUND:
		return "404: " SERVER_NAME " has /, /metrics and /healthz\n";
	case MHD_HTTP_METHOD_NOT_ALLOWED:
		return "405: " SERVER_NAME " answers only GET and HEAD\n";
	default:
		return "503: there are no numbers now: try again later\n";
	}
}

/* Queues the document and drops it; NULL: the words of the status. */
static enum MHD_Result send_document(const struct server *server, struct MHD_Connection *connection,
				     unsigned int status, struct document *document)
{
	const struct library *library = &server->library;
	struct MHD_Response *response;
	enum MHD_Result result;

	if (!document)
		document = document_new("text/plain; charset=utf-8", words_of(status),
					strlen(words_of(status)), false);
	response = library->create_response(document->size, document->bytes, drop_bytes);
	if (!response) {
		document_drop(document);
		return MHD_NO;
	}
	library->add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, document->type);
	library->add_header(response, "X-Content-Type-Options", "nosniff");
	if (document->is_gzip)
		library->add_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (status == MHD_HTTP_UNAUTHORIZED)
		library->add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				    "Basic realm=\"kvmtop\"");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		library->add_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = library->queue_response(connection, status, response);
	library->destroy_response(response);
	return result;
}

static unsigned int status_of(enum password_answer answer)
{
	return answer == PASSWORD_RIGHT ? MHD_HTTP_OK : MHD_HTTP_UNAUTHORIZED;
}

/* MHD_HTTP_OK: the client may read; 0: the library comes here again when there is an answer. */
static unsigned int check_client(const struct server *server, struct visitor *visitor)
{
	char *password = NULL, *name;
	enum password_answer answer;

	if (!server->web.nr_users)
		return MHD_HTTP_OK;
	if (visitor->waits) {
		visitor->waits = false;
		visitor->since_ns = clock_now_ns(); /* its time for the rest */
		return status_of(visitor->login.answer);
	}
	name = server->library.get_password(visitor->connection, &password);
	answer = passwords_know(server->passwords, name, password);
	if (answer == PASSWORD_UNKNOWN) {
		visitor->waits = true;
		server->library.suspend(visitor->connection);
		passwords_check(server->passwords, &visitor->login, name, password);
	}
	server->library.free(name);
	if (password)
		explicit_bzero(password, strlen(password));
	server->library.free(password);
	return answer == PASSWORD_UNKNOWN ? 0 : status_of(answer);
}

/* In the thread of passwords. */
static void on_answer(struct login *login)
{
	struct visitor *visitor = (struct visitor *)((char *)login -
						     offsetof(struct visitor, login));

	visitor->server->library.resume(visitor->connection);
}

/* "gzip" in a list of codings, unless its weight is 0. */
static bool accepts_gzip(const struct server *server, struct MHD_Connection *connection)
{
	const char *codings = server->library.lookup_value(connection, MHD_HEADER_KIND,
							   MHD_HTTP_HEADER_ACCEPT_ENCODING);
	const char *found = codings ? strstr(codings, "gzip") : NULL;
	double weight;

	return found && (sscanf(found, "gzip ; q = %lf", &weight) < 1 || weight > 0);
}

/* NULL: there was no memory for it. */
static struct visitor *visitor_of(const struct server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = server->library.connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **seen)
{
	const struct server *server = arg;
	struct visitor *visitor = visitor_of(server, connection);
	struct server_request request = { .path = url };
	struct document *document = NULL;
	unsigned int status;

	(void)version;
	(void)upload;
	if (!*seen) { /* the header is complete; a body may follow */
		*seen = arg;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_document(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED, NULL);
	if (!visitor)
		return MHD_NO;
	status = check_client(server, visitor);
	if (!status)
		return MHD_YES;
	if (status != MHD_HTTP_OK)
		return send_document(server, connection, status, NULL);
	request.takes_gzip = accepts_gzip(server, connection);
	status = server->config.answer(server->config.arg, &request, &document);
	return send_document(server, connection, status, document);
}

/* ---- connections */

static void welcome(struct server *server, struct MHD_Connection *connection, void **context)
{
	const struct library *library = &server->library;
	const union MHD_ConnectionInfo *fd = library->connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *address = library->connection_info(
		connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct visitor *visitor = fd ? xcalloc(1, sizeof(*visitor)) : NULL;

	if (!visitor)
		return;
	visitor->server = server;
	visitor->connection = connection;
	visitor->fd = fd->connect_fd;
	visitor->since_ns = clock_now_ns();
	visitor->login.address = client_address_of(address ? address->client_addr : NULL);
	DL_APPEND(server->visitors, visitor);
	*context = visitor;
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct server *server = arg;
	struct visitor *visitor = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		welcome(server, connection, context);
	} else if (visitor) {
		DL_DELETE(server->visitors, visitor);
		free(visitor);
		*context = NULL;
	}
}

/* A request has its answer, or its client is gone. */
static void on_completed(void *arg, struct MHD_Connection *connection, void **seen,
			 enum MHD_RequestTerminationCode code)
{
	struct visitor *visitor = visitor_of(arg, connection);

	(void)seen;
	(void)code;
	if (!visitor)
		return;
	visitor->waits = false;
	visitor->since_ns = clock_now_ns();
}

/* Ends the connections that have had their time: the library finds that out, and closes them. */
static void end_late(const struct server *server)
{
	uint64_t now_ns = clock_now_ns();
	const struct visitor *visitor;

	DL_FOREACH(server->visitors, visitor) {
		if (!visitor->waits && now_ns - visitor->since_ns >= REQUEST_S * NS_PER_S)
			shutdown(visitor->fd, SHUT_RDWR);
	}
}

/* ---- the thread */

/* How long nothing can happen but on a descriptor; -1: for ever. */
static int wait_ms(const struct server *server)
{
	MHD_UNSIGNED_LONG_LONG library_ms;
	int ms = server->visitors ? LOOK_MS : -1;

	if (server->library.get_timeout(server->daemon, &library_ms) == MHD_YES &&
	    (ms < 0 || library_ms < (unsigned int)ms))
		ms = (int)library_ms;
	return ms;
}

static void *run(void *arg)
{
	struct server *server = arg;
	const union MHD_DaemonInfo *info = server->library.daemon_info(server->daemon,
								      MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd fds[] = {
		{ .fd = info->epoll_fd, .events = POLLIN },
		{ .fd = server->wake_fd, .events = POLLIN },
	};

	while (!server->is_ending) {
		poll(fds, 2, wait_ms(server));
		server->library.run(server->daemon);
		end_late(server);
	}
	return NULL;
}

/* ---- start and stop */

/* The library stays: others of the program's own may use what it loaded. */
static int load_library(struct library *ret_library, struct error *error)
{
	static const char *const names[] = { LIBRARY, NULL };
	const struct library_function all[] = {
		{ "MHD_start_daemon", &ret_library->start_daemon },
		{ "MHD_stop_daemon", &ret_library->stop_daemon },
		{ "MHD_run", &ret_library->run },
		{ "MHD_get_timeout", &ret_library->get_timeout },
		{ "MHD_get_daemon_info", &ret_library->daemon_info },
		{ "MHD_get_connection_info", &ret_library->connection_info },
		{ "MHD_suspend_connection", &ret_library->suspend },
		{ "MHD_resume_connection", &ret_library->resume },
		{ "MHD_create_response_from_buffer_with_free_callback",
		  &ret_library->create_response },
		{ "MHD_add_response_header", &ret_library->add_header },
		{ "MHD_queue_response", &ret_library->queue_response },
		{ "MHD_destroy_response", &ret_library->destroy_response },
		{ "MHD_lookup_connection_value", &ret_library->lookup_value },
		{ "MHD_basic_auth_get_username_password", &ret_library->get_password },
		{ "MHD_free", &ret_library->free },
		{ "MHD_is_feature_supported", &ret_library->has_feature },
	};
	void *handle;
	int err = library_load(names, all, ARRAY_SIZE(all), &handle, error);

	if (err == -ENOENT)
		error_set(error, err, "--listen needs " LIBRARY ", which cannot be loaded here; "
			  "--prometheus FILE.prom does without");
	return err;
}

static int read_pem(const char *path, char **ret_text, struct error *error)
{
	size_t size;
	int err = read_whole(path, PEM_MAX, ret_text, &size);

	return err ? error_set(error, err, "%s: %s", path, strerror(-err)) : 0;
}

static int read_config(struct server *server, struct error *error)
{
	int err = 0;

	if (server->config.web_config)
		err = web_config_read(server->config.web_config, &server->web, error);
	if (!err && server->web.nr_users)
		err = passwords_new(&server->web, on_answer, &server->passwords, error);
	if (!err && server->web.cert_file)
		err = read_pem(server->web.cert_file, &server->cert, error);
	if (!err && server->web.key_file)
		err = read_pem(server->web.key_file, &server->key, error);
	if (!err && server->cert && !server->library.has_feature(MHD_FEATURE_TLS))
		err = error_set(error, -ENOSYS, "libmicrohttpd was built without TLS here: "
				"leave tls_server_config out, or install one with TLS");
	return err;
}

/* Half of the descriptors at most: counting needs some. */
static unsigned int limit_connections(void)
{
	struct rlimit limit = { .rlim_cur = 1024 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur / 2 < SERVER_CONNECTIONS ? (unsigned int)(limit.rlim_cur / 2) :
						      SERVER_CONNECTIONS;
}

static int start_daemon(struct server *server, struct error *error)
{
	static const char tls13[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3";
	static const char tls12[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, server->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, server->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)(uintptr_t)(server->web.only_tls13 ? tls13 : tls12) },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

	if (!server->cert)
		tls[0].option = MHD_OPTION_END;
	else
		flags |= MHD_USE_TLS;
	server->daemon = server->library.start_daemon(
		flags, 0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET,
		server->listener.fd, MHD_OPTION_CONNECTION_LIMIT, limit_connections(),
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_OF_ADDRESS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, server, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!server->daemon)
		return error_set(error, -EIO, "%s: no server can be started there%s",
				 server->config.address,
				 server->cert ? "; are the certificate and the key PEM files that "
					      "belong together?" : "");
	server->listener.fd = -1; /* the daemon closes it */
	return 0;
}

static int start_thread(struct server *server)
{
	int err;

	server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = server->wake_fd < 0 ? -errno : thread_start(&server->thread, run, server);
	server->has_thread = !err;
	return err;
}

static void stop_thread(struct server *server)
{
	if (server->has_thread) {
		server->is_ending = true;
		eventfd_write(server->wake_fd, 1);
		pthread_join(server->thread, NULL);
	}
}

int server_start(const struct server_config *config, struct server **ret_server,
		 bool *ret_is_open, struct error *error)
{
	struct server *server = xcalloc(1, sizeof(*server));
	int err;

	server->config = *config;
	server->listener.fd = -1;
	server->wake_fd = -1;
	err = load_library(&server->library, error);
	if (!err)
		err = read_config(server, error);
	if (!err)
		err = address_listen(config->address, &server->listener, error);
	if (!err)
		err = start_daemon(server, error);
	if (!err)
		err = start_thread(server);
	if (err) {
		server_stop(server);
		return err;
	}
	*ret_is_open = server->listener.is_open;
	*ret_server = server;
	return 0;
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	address_remove(&server->listener); /* while its inode is this socket's */
	stop_thread(server);
	passwords_free(server->passwords); /* the library wants no connection to be suspended */
	if (server->daemon)
		server->library.stop_daemon(server->daemon);
	if (server->listener.fd >= 0)
		close(server->listener.fd);
	if (server->wake_fd >= 0)
		close(server->wake_fd);
	if (server->key)
		explicit_bzero(server->key, strlen(server->key));
	free(server->cert);
	free(server->key);
	web_config_release(&server->web);
	free(server);
}
