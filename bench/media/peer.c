/*
 * The other side of the media measurement: telephones and agents of many calls, in one process that costs little.
 *
 *   peer <calls> <port of the agents> <first RTP port of the server> <first RTP port here> <warm-up, s> <measured, s>
 *
 * Each telephone sends 20 ms of PCMU every 20 ms; the payload begins with the time of sending. Each agent answers every
 * message with 20 ms of its own. It prints `listening`, waits for a line, prints `window` and `end` around the measured
 * time, and then what was found, as JSON.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CALLS 1000
#define FRAME 160
#define PERIOD 20000000ull /* 20 ms, in ns */
#define SECOND 1000000000ull
/* Times are counted in bins of 10 us, up to a second. */
#define BIN 10000
#define BINS 100000

typedef uint64_t u64;
typedef uint8_t u8;

static u64 now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * SECOND + t.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* ---- Figures ---- */

typedef struct {
  unsigned bins[BINS];
} Times;

static void count(Times *times, int64_t ns) {
  u64 bin = ns < 0 ? 0 : (u64)ns / BIN;
  times->bins[bin < BINS ? bin : BINS - 1]++;
}

/* What a share of the times stays under, in ms. */
static double percentile(const Times *times, double share) {
  u64 all = 0, seen = 0;
  for (int i = 0; i < BINS; i++) all += times->bins[i];
  for (int i = 0; i < BINS; i++) {
    seen += times->bins[i];
    if (seen > 0 && seen >= all * share) return (i + 1) * (BIN / 1e6);
  }
  return -1;
}

static Times jitter, to_agent;
static u64 sent, at_agent, received, lost;
static int measuring;
/* What is sent within this time is counted, also if it arrives after it. */
static u64 from, to;

/* ---- Base64 and SHA-1, for the handshake and the sound ---- */

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static u8 base64_value[256];

static int encode(const u8 *from, int length, char *to) {
  int at = 0;
  for (int i = 0; i < length; i += 3) {
    int second = i + 1 < length, third = i + 2 < length;
    int bits = from[i] << 16 | (second ? from[i + 1] << 8 : 0) | (third ? from[i + 2] : 0);
    to[at++] = base64[bits >> 18];
    to[at++] = base64[bits >> 12 & 63];
    to[at++] = second ? base64[bits >> 6 & 63] : '=';
    to[at++] = third ? base64[bits & 63] : '=';
  }
  return at;
}

/* The first 8 bytes of what base64 text stands for. */
static u64 decode_time(const u8 *text) {
  u8 bytes[9];
  for (int i = 0; i < 3; i++) {
    const u8 *four = text + i * 4;
    int bits = base64_value[four[0]] << 18 | base64_value[four[1]] << 12 | base64_value[four[2]] << 6 |
               base64_value[four[3]];
    bytes[i * 3] = bits >> 16;
    bytes[i * 3 + 1] = bits >> 8;
    bytes[i * 3 + 2] = bits;
  }
  u64 time;
  memcpy(&time, bytes, 8);
  return time;
}

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static void sha1_block(uint32_t hash[5], const u8 *block) {
  uint32_t w[80];
  for (int i = 0; i < 16; i++)
    w[i] = block[i * 4] << 24 | block[i * 4 + 1] << 16 | block[i * 4 + 2] << 8 | block[i * 4 + 3];
  for (int i = 16; i < 80; i++) w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4];
  for (int i = 0; i < 80; i++) {
    uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 ? b ^ c ^ d : i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
    uint32_t k = i < 20 ? 0x5A827999 : i < 40 ? 0x6ED9EBA1 : i < 60 ? 0x8F1BBCDC : 0xCA62C1D6;
    uint32_t next = rotated(a, 5) + f + e + k + w[i];
    e = d, d = c, c = rotated(b, 30), b = a, a = next;
  }
  hash[0] += a, hash[1] += b, hash[2] += c, hash[3] += d, hash[4] += e;
}

/* Of fewer than 120 bytes. */
static void sha1(const u8 *data, int length, u8 digest[20]) {
  uint32_t hash[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  u8 padded[128] = {0};
  memcpy(padded, data, length);
  padded[length] = 0x80;
  int total = length < 56 ? 64 : 128;
  padded[total - 2] = length * 8 >> 8;
  padded[total - 1] = length * 8;
  for (int at = 0; at < total; at += 64) sha1_block(hash, padded + at);
  for (int i = 0; i < 20; i++) digest[i] = hash[i / 4] >> (24 - 8 * (i % 4));
}

/* ---- Agents: WebSocket servers that answer each sound by one ---- */

typedef struct {
  int fd, is_open, length;
  u8 buffer[32768];
} Agent;

/* Speech models are agents, too: their sound has other words around it (OpenAI's Realtime API). */
static void agent_say(Agent *agent, int is_model) {
  static const u8 silence[FRAME] = {[0 ... FRAME - 1] = 0xff};
  char frame[512];
  int body = sprintf(frame + 4, is_model ? "{\"type\":\"response.output_audio.delta\",\"item_id\":\"item\",\"delta\":\""
                                         : "{\"event\":\"media\",\"streamSid\":\"MZ0\",\"media\":{\"payload\":\"");
  body += encode(silence, FRAME, frame + 4 + body);
  body += sprintf(frame + 4 + body, is_model ? "\"}" : "\"}}");
  frame[0] = (char)0x81; /* text, whole; more than 125 bytes */
  frame[1] = 126;
  frame[2] = body >> 8;
  frame[3] = body;
  if (send(agent->fd, frame, body + 4, MSG_NOSIGNAL) != body + 4) fprintf(stderr, "an agent's message was cut\n");
}

static void agent_begin(Agent *agent) {
  static const char frame[] = "\x81\x1a{\"type\":\"session.updated\"}";
  if (send(agent->fd, frame, 28, MSG_NOSIGNAL) != 28) fail("session");
}

static void agent_hear(Agent *agent, u8 *text, int length) {
  if (memmem(text, length, "\"session.update\"", 16)) return agent_begin(agent);
  u8 *payload = memmem(text, length, "\"payload\":\"", 11);
  u8 *audio = payload ? NULL : memmem(text, length, "\"audio\":\"", 9);
  if (!payload && !audio) return;
  /* What was filled in by the server bears no time. */
  u64 sent_at = decode_time(payload ? payload + 11 : audio + 9);
  if (sent_at >= from && sent_at < to) count(&to_agent, now() - sent_at), at_agent++;
  agent_say(agent, audio != NULL);
}

/* A ping is answered with what is in it, 125 bytes at most (RFC 6455, 5.5). */
static void agent_pong(Agent *agent, u8 *text, int length) {
  u8 frame[127] = {0x8a, length};
  memcpy(frame + 2, text, length);
  if (send(agent->fd, frame, length + 2, MSG_NOSIGNAL) != length + 2) fprintf(stderr, "an agent's pong was cut\n");
}

static void drop(Agent *agent, int bytes) {
  memmove(agent->buffer, agent->buffer + bytes, agent->length - bytes);
  agent->length -= bytes;
}

static void agent_shake_hands(Agent *agent) {
  u8 *end = memmem(agent->buffer, agent->length, "\r\n\r\n", 4);
  if (!end) return;
  *end = 0;
  char *key = strcasestr((char *)agent->buffer, "sec-websocket-key:");
  if (!key) fail("handshake");
  key += strlen("sec-websocket-key:");
  while (*key == ' ') key++;
  u8 seed[60], digest[20];
  memcpy(seed, key, 24);
  memcpy(seed + 24, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", 36);
  sha1(seed, 60, digest);
  char accept[32] = {0}, answer[256];
  encode(digest, 20, accept);
  int length = sprintf(answer,
                       "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Accept: %s\r\n\r\n",
                       accept);
  if (send(agent->fd, answer, length, MSG_NOSIGNAL) != length) fail("handshake");
  agent->is_open = 1;
  drop(agent, end + 4 - agent->buffer);
}

/* The frames that are whole (RFC 6455, 5.2); those of a client are masked. */
static void agent_read_frames(Agent *agent) {
  int at = 0;
  for (;;) {
    u8 *frame = agent->buffer + at;
    int left = agent->length - at;
    if (left < 6) break;
    int length = frame[1] & 127, header = 2;
    if (length == 126) length = frame[2] << 8 | frame[3], header = 4;
    if (left < header + 4 + length) break;
    u8 *mask = frame + header, *text = mask + 4;
    for (int i = 0; i < length; i++) text[i] ^= mask[i & 3];
    if ((frame[0] & 15) == 1) agent_hear(agent, text, length);
    if ((frame[0] & 15) == 9 && length <= 125) agent_pong(agent, text, length);
    at += header + 4 + length;
  }
  drop(agent, at);
}

static void agent_read(Agent *agent) {
  for (;;) {
    int room = sizeof agent->buffer - agent->length;
    int got = recv(agent->fd, agent->buffer + agent->length, room, MSG_DONTWAIT);
    if (got == 0) close(agent->fd);
    if (got <= 0) return;
    agent->length += got;
    if (!agent->is_open) agent_shake_hands(agent);
    if (agent->is_open) agent_read_frames(agent);
  }
}

/* ---- Telephones ---- */

typedef struct {
  int fd, has_heard;
  uint16_t sequence, heard_sequence;
  uint32_t timestamp;
  u64 due, heard_at;
} Phone;

static Phone phones[MAX_CALLS];
/* What turns the kernel's time of receipt into ours. */
static int64_t clock_offset;

static int phone_open(int own_port, int port) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), on = 1;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  at.sin_port = htons(own_port);
  if (bind(fd, (void *)&at, sizeof at)) fail("bind");
  at.sin_port = htons(port);
  if (connect(fd, (void *)&at, sizeof at)) fail("connect");
  setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  return fd;
}

static void phone_say(Phone *phone, int number) {
  u8 packet[12 + FRAME];
  memset(packet, 0xff, sizeof packet);
  phone->timestamp += FRAME;
  packet[0] = 0x80;
  packet[1] = 0;
  packet[2] = phone->sequence >> 8;
  packet[3] = phone->sequence++;
  for (int i = 0; i < 4; i++) packet[4 + i] = phone->timestamp >> (24 - 8 * i);
  for (int i = 0; i < 4; i++) packet[8 + i] = (number + 1) >> (24 - 8 * i);
  u64 time = now();
  memcpy(packet + 12, &time, 8);
  if (send(phone->fd, packet, sizeof packet, 0) == sizeof packet && time >= from && time < to) sent++;
}

static void phone_hear(Phone *phone) {
  for (;;) {
    u8 packet[256];
    char control[128];
    struct iovec data = {packet, sizeof packet};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int length = recvmsg(phone->fd, &message, MSG_DONTWAIT);
    if (length < 0) return;
    if (length < 12 + FRAME) continue;
    struct timespec *time = (void *)CMSG_DATA(CMSG_FIRSTHDR(&message));
    u64 at = time->tv_sec * SECOND + time->tv_nsec - clock_offset;
    uint16_t sequence = packet[2] << 8 | packet[3];
    if (phone->has_heard && measuring) {
      int16_t gap = sequence - phone->heard_sequence;
      received++;
      if (gap != 1) lost += gap > 1 ? gap - 1 : 1;
      int64_t off = (int64_t)(at - phone->heard_at) - (int64_t)PERIOD;
      count(&jitter, off < 0 ? -off : off);
    }
    phone->has_heard = 1;
    phone->heard_sequence = sequence;
    phone->heard_at = at;
  }
}

/* ---- The measurement ---- */

enum { LISTENER = 1, AGENTS = 1000, PHONES = 1000000 };

static Agent *agents[MAX_CALLS];
static int agent_count;

static void watch(int epoll, int fd, u64 id) {
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = id};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) fail("epoll");
}

static int listen_for_agents(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  at.sin_port = htons(port);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, (void *)&at, sizeof at) || listen(fd, 2048)) fail("listen");
  return fd;
}

static void accept_agents(int epoll, int listener) {
  int fd, on = 1;
  while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
    if (agent_count == MAX_CALLS) fail("too many agents");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    agents[agent_count] = calloc(1, sizeof(Agent));
    agents[agent_count]->fd = fd;
    watch(epoll, fd, AGENTS + agent_count++);
  }
}

static void serve(int epoll, int listener) {
  static struct epoll_event events[512];
  int count = epoll_wait(epoll, events, 512, 1);
  for (int i = 0; i < count; i++) {
    u64 id = events[i].data.u64;
    if (id == LISTENER) accept_agents(epoll, listener);
    else if (id >= PHONES) phone_hear(&phones[id - PHONES]);
    else agent_read(agents[id - AGENTS]);
  }
}

static void say_line(const char *line) {
  puts(line);
  fflush(stdout);
}

int main(int count_of_arguments, char **arguments) {
  if (count_of_arguments != 7) return 2;
  int calls = atoi(arguments[1]), epoll = epoll_create1(0), listener = listen_for_agents(atoi(arguments[2]));
  for (int i = 0; i < 64; i++) base64_value[(u8)base64[i]] = i;
  watch(epoll, listener, LISTENER);
  for (int i = 0; i < calls; i++) {
    phones[i].fd = phone_open(atoi(arguments[4]) + 2 * i, atoi(arguments[3]) + 2 * i);
    watch(epoll, phones[i].fd, PHONES + i);
  }
  struct timespec day;
  clock_gettime(CLOCK_REALTIME, &day);
  clock_offset = (int64_t)(day.tv_sec * SECOND + day.tv_nsec) - (int64_t)now();
  fcntl(0, F_SETFL, O_NONBLOCK);
  say_line("listening");
  char line[64];
  while (read(0, line, sizeof line) <= 0) serve(epoll, listener);

  u64 start = now();
  from = start + atoi(arguments[5]) * SECOND, to = from + atoi(arguments[6]) * SECOND;
  for (int i = 0; i < calls; i++) phones[i].due = start + PERIOD * i / calls;
  for (u64 time = start; time < to + SECOND; time = now()) {
    if (!measuring && time >= from && time < to) measuring = 1, say_line("window");
    if (measuring && time >= to) measuring = 0, say_line("end");
    for (int i = 0; i < calls && time < to; i++)
      for (; phones[i].due <= time; phones[i].due += PERIOD) phone_say(&phones[i], i);
    serve(epoll, listener);
  }
  printf("{\"sent\":%lu,\"atAgent\":%lu,\"received\":%lu,\"lost\":%lu,\"jitterP99\":%.2f,\"jitterMax\":%.2f,"
         "\"toAgentP50\":%.2f,\"toAgentP99\":%.2f}\n",
         sent, at_agent, received, lost, percentile(&jitter, .99), percentile(&jitter, 1), percentile(&to_agent, .5),
         percentile(&to_agent, .99));
  return 0;
}
