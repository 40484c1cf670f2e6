/* Makes a shared library of functions that do nothing. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/loader/elf_stub.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/*
 * The file is loaded as two parts: one that is read and run, with all but the
 * last two of these in it, and one that is written.
 */
enum stub_part {
	PART_HEADS, /* of the file, and of its parts */
	PART_SYMBOLS,
	PART_HASH,
	PART_VERSIONS, /* the number of its node, for each symbol */
	PART_NODES,
	PART_STRINGS,
	PART_CODE,
	PART_DYNAMIC,
	PART_SLOT,
	PART_COUNT,
};

enum { LOADED_HEADS = 4, DYNAMIC_ENTRIES = 10 };

/* The largest page of such a machine. */
#define PAGE 65536U
#define CODE_SIZE 16U
/* The nodes are the library itself, as always, and one for each version. */
#define NODE_SIZE (sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux))

struct stub {
	const char *soname;
	const struct stub_name *names;
	size_t count, node_count;
	uint64_t at[PART_COUNT + 1]; /* of each part; its address as well */
	unsigned char *image;
	size_t strings_used;
};

static bool is_new_node(const struct stub *stub, size_t i)
{
	const char *node = stub->names[i].node;

	return node && (i == 0 || !stub->names[i - 1].node ||
			strcmp(stub->names[i - 1].node, node) != 0);
}

/* Symbols are nothing, the slot, and the names. */
static size_t symbol_count(const struct stub *stub)
{
	return stub->count + 2;
}

static size_t strings_size(const struct stub *stub)
{
	size_t size = 1 + strlen(stub->soname) + 1 + sizeof(ELF_STUB_SLOT);

	for (size_t i = 0; i < stub->count; i++) {
		size += strlen(stub->names[i].name) + 1;
		if (is_new_node(stub, i))
			size += strlen(stub->names[i].node) + 1;
	}
	return size;
}

static void lay_out(struct stub *stub)
{
	const size_t sizes[PART_COUNT] = {
		[PART_HEADS] =
			sizeof(Elf64_Ehdr) + LOADED_HEADS * sizeof(Elf64_Phdr),
		[PART_SYMBOLS] = symbol_count(stub) * sizeof(Elf64_Sym),
		[PART_HASH] = (2 + 2 * symbol_count(stub)) * sizeof(uint32_t),
		[PART_VERSIONS] = symbol_count(stub) * sizeof(uint16_t),
		[PART_NODES] = (stub->node_count + 1) * NODE_SIZE,
		[PART_STRINGS] = strings_size(stub),
		[PART_CODE] = stub->count * CODE_SIZE,
		[PART_DYNAMIC] = DYNAMIC_ENTRIES * sizeof(Elf64_Dyn),
		[PART_SLOT] = sizeof(uint64_t),
	};
	uint64_t at = 0;

	for (size_t i = 0; i < PART_COUNT; i++) {
		uint64_t unit = i == PART_DYNAMIC ? PAGE : CODE_SIZE;

		at = (at + unit - 1) / unit * unit;
		stub->at[i] = at;
		at += sizes[i];
	}
	stub->at[PART_COUNT] = at;
}

static void put_bytes(struct stub *stub, uint64_t at, const void *data,
		      size_t size)
{
	memcpy(stub->image + at, data, size);
}

static uint32_t add_string(struct stub *stub, const char *text)
{
	size_t at = stub->strings_used;

	put_bytes(stub, stub->at[PART_STRINGS] + at, text, strlen(text) + 1);
	stub->strings_used += strlen(text) + 1;
	return (uint32_t)at;
}

static void put_heads(struct stub *stub)
{
	uint64_t written = stub->at[PART_DYNAMIC];
	uint64_t end = stub->at[PART_COUNT];
	const Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
#ifdef __aarch64__
		.e_machine = EM_AARCH64,
#else
		.e_machine = EM_X86_64,
#endif
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(head),
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = LOADED_HEADS,
	};
	const Elf64_Phdr parts[LOADED_HEADS] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_filesz = written,
		  .p_memsz = written,
		  .p_align = PAGE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_offset = written,
		  .p_vaddr = written,
		  .p_filesz = end - written,
		  .p_memsz = end - written,
		  .p_align = PAGE },
		{ .p_type = PT_DYNAMIC,
		  .p_flags = PF_R | PF_W,
		  .p_offset = written,
		  .p_vaddr = written,
		  .p_filesz = DYNAMIC_ENTRIES * sizeof(Elf64_Dyn),
		  .p_memsz = DYNAMIC_ENTRIES * sizeof(Elf64_Dyn),
		  .p_align = sizeof(uint64_t) },
		{ .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W },
	};

	put_bytes(stub, 0, &head, sizeof(head));
	put_bytes(stub, sizeof(head), parts, sizeof(parts));
}

static void put_symbol(struct stub *stub, size_t i, uint32_t name,
		       enum stub_part part, uint64_t offset)
{
	bool is_code = part == PART_CODE;
	const Elf64_Sym symbol = {
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL,
					 is_code ? STT_FUNC : STT_OBJECT),
		.st_shndx = 1, /* somewhere: there are no sections to name */
		.st_value = stub->at[part] + offset,
		.st_size = is_code ? CODE_SIZE : sizeof(uint64_t),
	};

	put_bytes(stub, stub->at[PART_SYMBOLS] + i * sizeof(symbol), &symbol,
		  sizeof(symbol));
}

/* As the System V ABI has it. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		uint32_t high;

		hash = (hash << 4) + (unsigned char)*name;
		high = hash & 0xf0000000U;
		hash = (hash ^ (high >> 24)) & ~high;
	}
	return hash;
}

/* One bucket for each symbol, and before its chain what stood there. */
static void put_hash(struct stub *stub, size_t i, const char *name)
{
	uint32_t count = (uint32_t)symbol_count(stub);
	uint64_t buckets = stub->at[PART_HASH] + 2 * sizeof(count);
	uint64_t bucket = buckets + hash_of(name) % count * sizeof(count);
	uint64_t chain = buckets + (count + i) * sizeof(count);
	uint32_t number = (uint32_t)i;

	put_bytes(stub, chain, stub->image + bucket, sizeof(number));
	put_bytes(stub, bucket, &number, sizeof(number));
}

static void put_node(struct stub *stub, size_t i, const char *name,
		     uint32_t string)
{
	struct {
		Elf64_Verdef node;
		Elf64_Verdaux text;
	} both = {
		{ .vd_version = VER_DEF_CURRENT,
		  .vd_flags = i == 0 ? VER_FLG_BASE : 0,
		  .vd_ndx = (uint16_t)(i + 1),
		  .vd_cnt = 1,
		  .vd_hash = hash_of(name),
		  .vd_aux = sizeof(both.node),
		  .vd_next = i == stub->node_count ? 0 : NODE_SIZE },
		{ .vda_name = string },
	};

	put_bytes(stub, stub->at[PART_NODES] + i * NODE_SIZE, &both,
		  sizeof(both));
}

/* For a function at address: what stands where, as its code says it. */
#ifdef __aarch64__
static void put_code(struct stub *stub, uint64_t address, uint64_t name,
		     bool is_refused)
{
	/* adr: a place within a megabyte, in a register. */
#	define ADR(to, from, place)                                           \
		(0x10000000U | (uint32_t)(to) |                                \
		 (uint32_t)(((place) - (from)) & 3U) << 29 |                   \
		 (uint32_t)((((place) - (from)) >> 2) & 0x7ffffU) << 5)
	const uint32_t refuse[] = {
		ADR(0, address, name),
		ADR(16, address + 4, stub->at[PART_SLOT]),
		0xf9400210U, /* ldr x16, [x16] */
		0xd61f0200U, /* br x16 */
	};
	const uint32_t answer[] = {
		0x52800000U, /* mov w0, #0 */
		0xd65f03c0U, /* ret */
	};

	if (is_refused)
		put_bytes(stub, address, refuse, sizeof(refuse));
	else
		put_bytes(stub, address, answer, sizeof(answer));
}
#else
static void put_code(struct stub *stub, uint64_t address, uint64_t name,
		     bool is_refused)
{
	/* Places count from the end of the instruction. */
	uint32_t to_name = (uint32_t)(name - (address + 7));
	uint32_t to_slot = (uint32_t)(stub->at[PART_SLOT] - (address + 13));
	static const unsigned char answer[] = { 0x31, 0xc0, 0xc3 };

	if (!is_refused) {
		/* xor eax, eax; ret */
		put_bytes(stub, address, answer, sizeof(answer));
		return;
	}
	/* lea rdi, [rip + name]; jmp [rip + slot] */
	put_bytes(stub, address, "\x48\x8d\x3d", 3);
	put_bytes(stub, address + 3, &to_name, sizeof(to_name));
	put_bytes(stub, address + 7, "\xff\x25", 2);
	put_bytes(stub, address + 9, &to_slot, sizeof(to_slot));
}
#endif

static void put_version(struct stub *stub, size_t i, size_t node)
{
	uint16_t number = (uint16_t)(node + 1);

	put_bytes(stub, stub->at[PART_VERSIONS] + i * sizeof(number), &number,
		  sizeof(number));
}

/* Symbol i + 2, its code, and its node if it is that one's first. */
static void put_name(struct stub *stub, size_t i, size_t *node)
{
	const struct stub_name *name = &stub->names[i];
	uint64_t code = stub->at[PART_CODE] + i * CODE_SIZE;
	uint32_t string = add_string(stub, name->name);

	if (is_new_node(stub, i))
		put_node(stub, ++*node, name->node,
			 add_string(stub, name->node));
	put_symbol(stub, i + 2, string, PART_CODE, i * CODE_SIZE);
	put_hash(stub, i + 2, name->name);
	put_version(stub, i + 2, name->node ? *node : 0);
	put_code(stub, code, stub->at[PART_STRINGS] + string, name->is_refused);
}

static void put_dynamic(struct stub *stub, uint32_t soname)
{
	const Elf64_Dyn entries[DYNAMIC_ENTRIES] = {
		{ DT_SONAME, { soname } },
		{ DT_HASH, { stub->at[PART_HASH] } },
		{ DT_STRTAB, { stub->at[PART_STRINGS] } },
		{ DT_STRSZ, { stub->strings_used } },
		{ DT_SYMTAB, { stub->at[PART_SYMBOLS] } },
		{ DT_SYMENT, { sizeof(Elf64_Sym) } },
		{ DT_VERSYM, { stub->at[PART_VERSIONS] } },
		{ DT_VERDEF, { stub->at[PART_NODES] } },
		{ DT_VERDEFNUM, { stub->node_count + 1 } },
		{ DT_NULL, { 0 } },
	};

	put_bytes(stub, stub->at[PART_DYNAMIC], entries, sizeof(entries));
}

static void fill_image(struct stub *stub)
{
	uint32_t soname;
	uint32_t counts[2] = { (uint32_t)symbol_count(stub),
			       (uint32_t)symbol_count(stub) };
	size_t node = 0;

	put_heads(stub);
	put_bytes(stub, stub->at[PART_HASH], counts, sizeof(counts));
	(void)add_string(stub, "");
	soname = add_string(stub, stub->soname);
	put_node(stub, 0, stub->soname, soname);
	put_symbol(stub, 1, add_string(stub, ELF_STUB_SLOT), PART_SLOT, 0);
	put_hash(stub, 1, ELF_STUB_SLOT);
	put_version(stub, 1, 0);
	for (size_t i = 0; i < stub->count; i++)
		put_name(stub, i, &node);
	put_dynamic(stub, soname);
}

unsigned char *elf_stub_make(const char *soname, const struct stub_name *names,
			     size_t count, size_t *size)
{
	struct stub stub = { .soname = soname, .names = names, .count = count };

#if !defined(__x86_64__) && !defined(__aarch64__)
	return NULL;
#endif
	for (size_t i = 0; i < count; i++)
		stub.node_count += is_new_node(&stub, i);
	lay_out(&stub);
	stub.image = calloc(1, stub.at[PART_COUNT]);
	if (!stub.image)
		return NULL;
	fill_image(&stub);
	*size = stub.at[PART_COUNT];
	return stub.image;
}
