// SPDX-License-Identifier: GPL-2.0-or-later
/* Listening sockets of three kinds, and where clients are from. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/http/server.h"
#include "lib/http/access.h"

#define BACKLOG 1024
#define FIRST_PASSED 3 /* SD_LISTEN_FDS_START */

static const char unix_prefix[] = "unix:";

/* The path of unix:PATH; NULL: the address is of another kind. */
static const char *path_of(const char *text)
{
	return strncmp(text, unix_prefix, strlen(unix_prefix)) == 0 ? text + strlen(unix_prefix) :
								      NULL;
}

/* An address as numbers, of both kinds. */
union address {
	struct sockaddr any;
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;
};

/* Whether only this machine reaches the address. */
static bool is_local(const union address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->ip4.sin_addr.s_addr) >> 24 == 127;
	return address->any.sa_family != AF_INET6 || IN6_IS_ADDR_LOOPBACK(&address->ip6.sin6_addr);
}

/* ---- systemd */

/* One that is connected, or takes datagrams, has no clients to accept. */
static bool accepts(int fd)
{
	int type = 0, listens = 0;
	socklen_t size = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens;
}

static int listen_systemd(struct listener *ret_listener, struct error *error)
{
	const char *pid = getenv("LISTEN_PID"), *nr = getenv("LISTEN_FDS");
	union address address = { .any = { .sa_family = AF_UNSPEC } };
	socklen_t size = sizeof(address);

	if (!pid || !nr || strtol(pid, NULL, 10) != getpid())
		return error_set(error, -ENOENT, "systemd passed no socket: start "
					     "kvmtop-listen.socket, or give an address");
	if (strcmp(nr, "1") != 0)
		return error_set(error, -EINVAL, "systemd passed %s sockets: pass one only", nr);
	if (!accepts(FIRST_PASSED))
		return error_set(error, -ENOTSOCK,
				 "systemd passed nothing that takes connections: the "
					       "socket unit needs ListenStream= and Accept=no");
	fcntl(FIRST_PASSED, F_SETFD, FD_CLOEXEC);
	fcntl(FIRST_PASSED, F_SETFL, O_NONBLOCK);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	*ret_listener = (struct listener){
		.fd = FIRST_PASSED,
		.is_open = getsockname(FIRST_PASSED, &address.any, &size) == 0 &&
			   !is_local(&address),
	};
	return 0;
}

/* ---- unix:PATH */

/* A socket that a killed program left: nothing answers there. */
static void remove_dead(const struct output *place, const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (fstatat(place->folder, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISSOCK(st.st_mode) &&
	    connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	    errno == ECONNREFUSED)
		unlinkat(place->folder, place->name, 0);
	close(fd);
}

static int bind_and_listen(int fd, const struct sockaddr *address, socklen_t size)
{
	return bind(fd, address, size) < 0 || listen(fd, BACKLOG) < 0 ? -errno : 0;
}

/* By the name in its folder, wherever the path leads meanwhile. */
static int make_unix(const struct output *place, int fd, struct listener *ret_listener)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t size = sizeof(address.sun_path);
	struct stat st;
	int err;

	if ((size_t)snprintf(address.sun_path, size, "/proc/self/fd/%d/%s", place->folder,
			     place->name) >= size)
		return -ENAMETOOLONG;
	remove_dead(place, &address);
	err = bind_and_listen(fd, (const struct sockaddr *)&address, sizeof(address));
	if (!err && fstatat(place->folder, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		err = -errno;
	if (!err)
		*ret_listener = (struct listener){ .fd = fd, .is_unix = true, .place = *place,
						   .dev = st.st_dev, .ino = st.st_ino };
	return err;
}

static int listen_unix(const char *path, struct listener *ret_listener, struct error *error)
{
	struct error reason = { "" };
	struct output place;
	int err = output_find(path, &place, &reason), fd;

	if (!err) {
		err = output_check_at(&place, &reason);
		fd = err ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (!err)
			err = fd < 0 ? -errno : make_unix(&place, fd, ret_listener);
		if (err && fd >= 0)
			close(fd);
		if (err)
			output_release(&place);
	}
	if (err)
		return error_set(error, err, "cannot listen at unix:%s: %s: choose another path",
				 path, reason.text[0] ? reason.text : strerror(-err));
	return 0;
}

void address_remove(struct listener *listener)
{
	const struct output *place = &listener->place;
	struct stat st;

	if (!listener->is_unix)
		return;
	if (fstatat(place->folder, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == listener->dev && st.st_ino == listener->ino)
		unlinkat(place->folder, place->name, 0);
	output_release(&listener->place);
	listener->is_unix = false;
}

/* ---- ADDRESS:PORT */

static int parse_host(const char *host, uint16_t port, union address *ret_address)
{
	*ret_address = (union address){ .ip4 = { .sin_family = AF_INET, .sin_port = htons(port) } };
	if (inet_pton(AF_INET, host, &ret_address->ip4.sin_addr) == 1)
		return 0;
	*ret_address = (union address){ .ip6 = { .sin6_family = AF_INET6,
						 .sin6_port = htons(port) } };
	return inet_pton(AF_INET6, host, &ret_address->ip6.sin6_addr) == 1 ? 0 : -EINVAL;
}

/* HOST:PORT, [HOST]:PORT, :PORT (every address, "::") or PORT (loopback). */
static int parse_tcp(const char *text, union address *ret_address, struct error *error)
{
	const char *colon = strrchr(text, ':');
	const char *port = colon ? colon + 1 : text, *host = text;
	size_t len = colon ? (size_t)(colon - text) : 0;
	char copy[INET6_ADDRSTRLEN] = "", *end;
	unsigned long number = strtoul(port, &end, 10);
	bool has_brackets = len > 2 && host[0] == '[' && host[len - 1] == ']';

	if (*port < '0' || *port > '9' || *end || number > UINT16_MAX)
		return error_set(error, -EINVAL, "\"%s\": no address to listen at: ADDRESS:PORT, "
					     "unix:PATH or systemd", text);
	if (!has_brackets && len && memchr(host, ':', len))
		return error_set(error, -EINVAL, "\"%s\": an IPv6 address is written in brackets: "
					     "[::1]:9752", text);
	if (len - 2 * has_brackets < sizeof(copy))
		memcpy(copy, host + has_brackets, len - 2 * has_brackets);
	if (!len || strcmp(copy, "localhost") == 0)
		strcpy(copy, colon && !len ? "::" : "127.0.0.1");
	if (parse_host(copy, (uint16_t)number, ret_address) < 0)
		return error_set(error, -EINVAL,
				 "\"%s\": the address must be numbers: 192.0.2.7:9752, "
					     "[::1]:9752", text);
	return 0;
}

/* A listening socket, or -errno. */
static int open_tcp(const union address *address)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int yes = 1, no = 0, err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (address->any.sa_family == AF_INET6) /* "::" takes clients of IPv4, too */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	err = bind_and_listen(fd, &address->any, sizeof(*address));
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int listen_tcp(const char *text, struct listener *ret_listener, struct error *error)
{
	union address address;
	int err = parse_tcp(text, &address, error), fd;

	if (err)
		return err;
	fd = open_tcp(&address);
	if ((fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL) && text[0] == ':') { /* IPv6 is off */
		address.ip4 = (struct sockaddr_in){ .sin_family = AF_INET,
						    .sin_port = address.ip6.sin6_port };
		fd = open_tcp(&address);
	}
	if (fd < 0)
		return error_set(error, fd, "cannot listen at %s: %s: choose another address",
				 text, strerror(-fd));
	*ret_listener = (struct listener){ .fd = fd, .is_open = !is_local(&address) };
	return 0;
}

int address_check(const char *text, struct error *error)
{
	const char *path = path_of(text);
	union address unused;

	if (strcmp(text, "systemd") == 0)
		return 0;
	if (!path)
		return parse_tcp(text, &unused, error);
	if (!*path || strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return error_set(error, -EINVAL, "\"%s\": the path of a socket has 1 to 107 bytes",
				 text);
	return 0;
}

int address_listen(const char *text, struct listener *ret_listener, struct error *error)
{
	int err = address_check(text, error);

	if (err)
		return err;
	if (strcmp(text, "systemd") == 0)
		return listen_systemd(ret_listener, error);
	if (path_of(text))
		return listen_unix(path_of(text), ret_listener, error);
	return listen_tcp(text, ret_listener, error);
}

/* ---- where clients are from */

struct client_address client_address_of(const struct sockaddr *address)
{
	struct client_address of = { .family = address ? address->sa_family : AF_UNSPEC };
	struct sockaddr_in6 ip6;
	struct sockaddr_in ip4;

	if (of.family == AF_INET) {
		memcpy(&ip4, address, sizeof(ip4));
		memcpy(of.bytes, &ip4.sin_addr, sizeof(ip4.sin_addr));
	} else if (of.family == AF_INET6) {
		memcpy(&ip6, address, sizeof(ip6));
		memcpy(of.bytes, &ip6.sin6_addr, sizeof(of.bytes));
		if (IN6_IS_ADDR_V4MAPPED(&ip6.sin6_addr)) {
			of.family = AF_INET;
			memset(of.bytes, 0, sizeof(of.bytes));
			memcpy(of.bytes, &ip6.sin6_addr.s6_addr[12], sizeof(ip4.sin_addr));
		}
	}
	if (of.family == AF_INET && of.bytes[0] == 127)
		memset(of.bytes + 1, 0, sizeof(of.bytes) - 1);
	return of;
}

bool client_address_is_same(const struct client_address *a, const struct client_address *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}
