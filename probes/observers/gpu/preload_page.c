/* The page as the preload library finds it: empty, with the known devices. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/preload_internal.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The old names of MIG devices ("MIG-GPU-.../1/0") have no bytes of their own:
 * no uuid. */
int preload_uuid_parse(unsigned char bytes[16], const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t nibbles = 0;

	memset(bytes, 0, 16);
	if (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0)
		return -EINVAL;
	text += 4;
	if (strlen(text) != sizeof(form) - 1)
		return -EINVAL;
	for (size_t i = 0; form[i]; i++) {
		unsigned char c = (unsigned char)text[i];
		int digit = isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;

		if (form[i] == '-' && c == '-')
			continue;
		if (form[i] == '-' || !isxdigit(c))
			return -EINVAL;
		bytes[nibbles / 2] |=
			(unsigned char)(nibbles % 2 ? digit : digit << 4);
		nibbles++;
	}
	return 0;
}

bool preload_page_has(const struct preload_page *page, uint32_t count,
		      const unsigned char uuid[16])
{
	for (uint32_t i = 0; i < count; i++)
		if (memcmp(page->devices[i].uuid, uuid, 16) == 0)
			return true;
	return false;
}

static void fill_page(struct preload_page *page,
		      const struct preload_target *targets, size_t count)
{
	struct preload_header *header = &page->header;
	uint32_t used = 0;

	for (size_t i = 0; i < count && used < PRELOAD_DEVICES; i++) {
		struct preload_device *device = &page->devices[used];
		unsigned char uuid[16];

		if (preload_uuid_parse(uuid, targets[i].uuid) < 0 ||
		    preload_page_has(page, used, uuid))
			continue;
		memcpy(device->uuid, uuid, sizeof(device->uuid));
		device->state = PRELOAD_DEVICE_READY;
		device->cap_bytes = targets[i].cap_bytes;
		device->baseline_bytes = targets[i].baseline_bytes;
		used++;
	}
	header->magic = PRELOAD_MAGIC;
	header->version = PRELOAD_VERSION;
	header->slots = PRELOAD_SLOTS;
	header->size = sizeof(*page);
	header->devices_used = used;
}

int preload_page_write(int fd, const struct preload_target *targets,
		       size_t count, struct error *err)
{
	struct preload_page *page = xcalloc(1, sizeof(*page));
	const char *bytes = (const char *)page;
	size_t done = 0;
	int result = 0;

	fill_page(page, targets, count);
	while (done < sizeof(*page) && result == 0) {
		ssize_t n = pwrite(fd, bytes + done, sizeof(*page) - done,
				   (off_t)(PRELOAD_PAGE_OFFSET + done));

		if (n < 0 && errno != EINTR)
			result = error_set_errno(err, -errno,
						 "cannot write the page of the "
						 "preload library");
		else if (n > 0)
			done += (size_t)n;
	}
	free(page);
	return result;
}
