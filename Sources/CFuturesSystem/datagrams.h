#pragma once
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
// It needs <time.h>, and does not say so.
#include <linux/errqueue.h>
#include <linux/sock_diag.h>

/// `struct mmsghdr`, and the calls that take it, which are GNU extensions.
struct datagram_message {
    struct msghdr header;
    unsigned int length;
};

int receive_messages(int socket, struct datagram_message *messages, unsigned int count, int flags, struct timespec *timeout)
    __asm__("recvmmsg");
int send_messages(int socket, struct datagram_message *messages, unsigned int count, int flags) __asm__("sendmmsg");

/// `struct in_pktinfo` and `struct in6_pktinfo`, the second of which is a GNU extension.
struct packet_info_v4 {
    int32_t interface;
    struct in_addr route;
    struct in_addr address;
};
struct packet_info_v6 {
    struct in6_addr address;
    uint32_t interface;
};

/// What the kernel calls by numbers that older headers lack.
enum {
    OPTION_UDP_SEGMENT = 103,
    OPTION_UDP_GRO = 104,
    OPTION_IPV6_MULTICAST_ALL = 29,
    OPTION_SO_MEMINFO = 55,
};

enum {
    /// How many messages are received and sent with one call. `make bench TOPIC=datagrams` compares it with one.
#ifdef DATAGRAMS_AT_ONCE
    DATAGRAM_SLOTS = DATAGRAMS_AT_ONCE,
#else
    DATAGRAM_SLOTS = 32,
#endif
    /// A datagram, or several that the kernel has put together. The rest of it keeps the starts of two slots from
    /// falling into the same lines of the processor's cache.
    DATAGRAM_STRIDE = 65536 + 4160,
    DATAGRAM_CONTROL = 128,
};

/// What stands around the bytes of a message.
struct datagram_slot {
    struct iovec vector;
    struct sockaddr_storage address;
    _Alignas(struct cmsghdr) unsigned char control[DATAGRAM_CONTROL];
};

/// The memory for one call. A page of `bytes` is used only once something has been received there.
struct datagram_block {
    struct datagram_message messages[DATAGRAM_SLOTS];
    struct datagram_slot slots[DATAGRAM_SLOTS];
    unsigned char bytes[DATAGRAM_SLOTS][DATAGRAM_STRIDE];
};

/// The memory for one call that sends.
struct datagram_batch {
    struct datagram_message messages[DATAGRAM_SLOTS];
    struct datagram_slot slots[DATAGRAM_SLOTS];
};

/// What the kernel says of a message: zeros where it says nothing.
struct datagram_notes {
    /// The size of each datagram, where the kernel has put several together.
    int32_t segment;
    uint32_t interface;
    /// `AF_INET`, `AF_INET6`, or zero if the local address is not told.
    int32_t family;
    /// The address to which the datagram was sent.
    struct in_addr v4;
    struct in6_addr v6;
    /// The address of this machine from which to answer.
    struct in_addr route;
};

/// Receives up to `count` messages, and returns their number, or a negated errno.
static inline int receive_into(struct datagram_block *block, int socket, int count, bool with_address, bool with_notes) {
    for (int i = 0; i < count; i++) {
        struct datagram_slot *slot = &block->slots[i];
        slot->vector.iov_base = block->bytes[i];
        slot->vector.iov_len = 65536;
        struct msghdr *header = &block->messages[i].header;
        header->msg_name = with_address ? &slot->address : NULL;
        header->msg_namelen = with_address ? sizeof slot->address : 0;
        header->msg_iov = &slot->vector;
        header->msg_iovlen = 1;
        header->msg_control = with_notes ? slot->control : NULL;
        header->msg_controllen = with_notes ? sizeof slot->control : 0;
        header->msg_flags = 0;
    }
    int received = receive_messages(socket, block->messages, (unsigned)count, MSG_DONTWAIT, NULL);
    return received < 0 ? -errno : received;
}

static inline struct datagram_notes notes_of(struct msghdr *header) {
    struct datagram_notes notes = {0};
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level == SOL_UDP && c->cmsg_type == OPTION_UDP_GRO) {
            memcpy(&notes.segment, CMSG_DATA(c), sizeof notes.segment);
        } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct packet_info_v4 info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            notes.family = AF_INET;
            notes.v4 = info.address;
            notes.route = info.route;
            notes.interface = (uint32_t)info.interface;
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct packet_info_v6 info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            notes.family = AF_INET6;
            notes.v6 = info.address;
            notes.interface = info.interface;
        }
    }
    return notes;
}

/// Adds a control message to those of `header`, which has room for it.
static inline void add_control(struct msghdr *header, int level, int type, const void *data, size_t size) {
    struct cmsghdr *c = (struct cmsghdr *)((unsigned char *)header->msg_control + header->msg_controllen);
    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(c), data, size);
    header->msg_controllen += CMSG_SPACE(size);
}

/// Fills a slot with `size` bytes at `bytes`. A `segment` above zero lets the kernel cut them into datagrams of that
/// size. `from` is the address to send from, or NULL.
static inline void fill_slot(struct datagram_batch *batch, int index, const void *bytes, size_t size, uint16_t segment) {
    struct datagram_slot *slot = &batch->slots[index];
    struct msghdr *header = &batch->messages[index].header;
    slot->vector.iov_base = (void *)bytes;
    slot->vector.iov_len = size;
    header->msg_name = NULL;
    header->msg_namelen = 0;
    header->msg_iov = &slot->vector;
    header->msg_iovlen = 1;
    header->msg_control = slot->control;
    header->msg_controllen = 0;
    header->msg_flags = 0;
    if (segment > 0) add_control(header, SOL_UDP, OPTION_UDP_SEGMENT, &segment, sizeof segment);
    if (header->msg_controllen == 0) header->msg_control = NULL;
}

static inline void set_target(struct datagram_batch *batch, int index, const struct sockaddr *address, socklen_t size) {
    struct msghdr *header = &batch->messages[index].header;
    memcpy(&batch->slots[index].address, address, size);
    header->msg_name = &batch->slots[index].address;
    header->msg_namelen = size;
}

static inline void set_source(struct datagram_batch *batch, int index, const struct sockaddr *address) {
    struct msghdr *header = &batch->messages[index].header;
    header->msg_control = batch->slots[index].control;
    if (address->sa_family == AF_INET) {
        struct packet_info_v4 info = {.route = ((const struct sockaddr_in *)address)->sin_addr};
        add_control(header, IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
    } else {
        struct packet_info_v6 info = {
            .address = ((const struct sockaddr_in6 *)address)->sin6_addr,
            .interface = ((const struct sockaddr_in6 *)address)->sin6_scope_id,
        };
        add_control(header, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
    }
}

/// Sends `count` messages, and returns how many the kernel has taken, or a negated errno if it refuses the first.
static inline int send_batch(struct datagram_batch *batch, int socket, int count) {
    int sent = send_messages(socket, batch->messages, (unsigned)count, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
}

/// Takes an error that the network has reported. Returns its errno, and the address of the datagram that it is about;
/// 0 if there is none. What the kernel itself objects to, it answers to the call that sends.
static inline int next_network_error(int socket, struct sockaddr_storage *address, socklen_t *size) {
    _Alignas(struct cmsghdr) unsigned char control[512];
    while (true) {
        struct msghdr header = {
            .msg_name = address,
            .msg_namelen = sizeof *address,
            .msg_control = control,
            .msg_controllen = sizeof control,
        };
        if (recvmsg(socket, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return 0;
        *size = header.msg_namelen;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
            bool is_error = (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR)
                || (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR);
            if (!is_error) continue;
            struct sock_extended_err error;
            memcpy(&error, CMSG_DATA(c), sizeof error);
            if (error.ee_origin != SO_EE_ORIGIN_LOCAL) return (int)error.ee_errno;
        }
    }
}

/// How many datagrams the kernel has dropped because the buffer of a socket was full.
static inline uint32_t dropped_datagrams(int socket) {
    uint32_t values[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof values;
    if (getsockopt(socket, SOL_SOCKET, OPTION_SO_MEMINFO, values, &size) != 0) return 0;
    return values[SK_MEMINFO_DROPS];
}

/// Joins or leaves a group: any source, or one if `source` is not NULL. Returns zero, or a negated errno.
static inline int change_membership(
    int socket, const struct sockaddr *group, socklen_t size, const struct sockaddr *source, unsigned interface, bool joins
) {
    int level = group->sa_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    if (source) {
        struct group_source_req request = {.gsr_interface = interface};
        memcpy(&request.gsr_group, group, size);
        memcpy(&request.gsr_source, source, size);
        int option = joins ? MCAST_JOIN_SOURCE_GROUP : MCAST_LEAVE_SOURCE_GROUP;
        return setsockopt(socket, level, option, &request, sizeof request) == 0 ? 0 : -errno;
    }
    struct group_req request = {.gr_interface = interface};
    memcpy(&request.gr_group, group, size);
    int option = joins ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP;
    return setsockopt(socket, level, option, &request, sizeof request) == 0 ? 0 : -errno;
}

static inline int set_multicast_interface(int socket, int family, unsigned interface) {
    if (family == AF_INET6) {
        return setsockopt(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, &interface, sizeof interface) == 0 ? 0 : -errno;
    }
    struct ip_mreqn request = {.imr_ifindex = (int)interface};
    return setsockopt(socket, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) == 0 ? 0 : -errno;
}
