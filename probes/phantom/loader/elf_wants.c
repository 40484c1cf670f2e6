/* What a shared library asks of others, read from its file. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/loader/elf_wants.h"

#include <elf.h>
#include <string.h>

#ifdef __aarch64__
#	define MACHINE EM_AARCH64
#else
#	define MACHINE EM_X86_64
#endif
/* The highest bit of a symbol's version says that it is hidden. */
#define VERSION_MASK 0x7fffU
/* More libraries than any needs. */
#define NODE_FILES_MAX 1024

/* NULL: not all of it is in the file. */
static const void *part_at(const struct elf_file *file, uint64_t offset,
			   uint64_t size)
{
	if (!offset || offset > file->size || size > file->size - offset)
		return NULL;
	return file->image + offset;
}

static const char *text_at(const struct elf_file *file, uint64_t at)
{
	const char *text;

	if (at >= file->strings_size)
		return NULL;
	text = part_at(file, file->strings, file->strings_size);
	if (!text || !memchr(text + at, '\0', file->strings_size - at))
		return NULL;
	return text + at;
}

static bool program_header(const struct elf_file *file, size_t index,
			   Elf64_Phdr *header)
{
	Elf64_Ehdr head;
	const void *found;

	memcpy(&head, file->image, sizeof(head));
	if (index >= head.e_phnum)
		return false;
	found = part_at(file, head.e_phoff + index * sizeof(*header),
			sizeof(*header));
	if (found)
		memcpy(header, found, sizeof(*header));
	return found != NULL;
}

/* Where in the file is what will stand at that address? 0: nowhere. */
static uint64_t offset_of(const struct elf_file *file, uint64_t address)
{
	Elf64_Phdr part;

	for (size_t i = 0; program_header(file, i, &part); i++)
		if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
		    address - part.p_vaddr < part.p_filesz)
			return part.p_offset + (address - part.p_vaddr);
	return 0;
}

/* The index-th entry of that tag; false: there is none. */
static bool dynamic_entry(const struct elf_file *file, int64_t tag,
			  size_t index, uint64_t *value)
{
	const unsigned char *table =
		part_at(file, file->dynamic, file->dynamic_size);
	size_t count = file->dynamic_size / sizeof(Elf64_Dyn);

	for (size_t i = 0; table && i < count; i++) {
		Elf64_Dyn entry;

		memcpy(&entry, table + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == tag && index-- == 0) {
			*value = entry.d_un.d_val;
			return true;
		}
	}
	return false;
}

static uint64_t table_of(const struct elf_file *file, int64_t tag)
{
	uint64_t address;

	return dynamic_entry(file, tag, 0, &address) ? offset_of(file, address)
						     : 0;
}

/*
 * In the newer kind of hash table stands the first symbol that is found by it:
 * those before it are asked of others. In the older, how many there are.
 */
static uint64_t count_asked(const struct elf_file *file)
{
	uint64_t newer = table_of(file, DT_GNU_HASH);
	uint64_t older = table_of(file, DT_HASH);
	uint64_t room =
		file->symbols < file->size
			? (file->size - file->symbols) / sizeof(Elf64_Sym)
			: 0;
	uint32_t head[2] = { 0 };
	const void *table = part_at(file, newer ? newer : older, sizeof(head));

	if (table)
		memcpy(head, table, sizeof(head));
	if (!head[1] || !room)
		return 0;
	return (head[1] < room ? head[1] : room) - 1;
}

static bool has_head(const struct elf_file *file)
{
	Elf64_Ehdr head;

	if (file->size < sizeof(head))
		return false;
	memcpy(&head, file->image, sizeof(head));
	return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
	       head.e_ident[EI_CLASS] == ELFCLASS64 &&
	       head.e_ident[EI_DATA] == ELFDATA2LSB &&
	       head.e_machine == MACHINE && head.e_type == ET_DYN &&
	       head.e_phentsize == sizeof(Elf64_Phdr);
}

bool elf_file_read(struct elf_file *file, const void *image, size_t size)
{
	Elf64_Phdr part;

	*file = (struct elf_file){ .image = image, .size = size };
	if (!has_head(file))
		return false;
	for (size_t i = 0; program_header(file, i, &part); i++)
		if (part.p_type == PT_DYNAMIC) {
			file->dynamic = part.p_offset;
			file->dynamic_size = part.p_filesz;
		}
	file->strings = table_of(file, DT_STRTAB);
	(void)dynamic_entry(file, DT_STRSZ, 0, &file->strings_size);
	file->symbols = table_of(file, DT_SYMTAB);
	file->versions = table_of(file, DT_VERSYM);
	file->nodes = table_of(file, DT_VERNEED);
	(void)dynamic_entry(file, DT_VERNEEDNUM, 0, &file->node_files);
	if (file->node_files > NODE_FILES_MAX)
		file->node_files = NODE_FILES_MAX;
	file->asked = count_asked(file);
	return file->dynamic != 0;
}

const char *elf_needed(const struct elf_file *file, size_t index)
{
	uint64_t at;

	return dynamic_entry(file, DT_NEEDED, index, &at) ? text_at(file, at)
							  : NULL;
}

const char *elf_run_path(const struct elf_file *file)
{
	const char *path = NULL;
	uint64_t at;

	if (dynamic_entry(file, DT_RUNPATH, 0, &at) ||
	    dynamic_entry(file, DT_RPATH, 0, &at))
		path = text_at(file, at);
	return path ? path : "";
}

/* Of one library: the node of that number. Both names or none are told. */
static bool find_version_node(const struct elf_file *file, uint64_t at,
			      const Elf64_Verneed *nodes, unsigned version,
			      struct elf_wanted *wanted)
{
	at += nodes->vn_aux;
	for (unsigned i = 0; i < nodes->vn_cnt; i++) {
		const void *found = part_at(file, at, sizeof(Elf64_Vernaux));
		Elf64_Vernaux node;

		if (!found)
			return false;
		memcpy(&node, found, sizeof(node));
		if ((node.vna_other & VERSION_MASK) == version) {
			const char *library = text_at(file, nodes->vn_file);
			const char *name = text_at(file, node.vna_name);

			if (!library || !name)
				return false;
			wanted->library = library;
			wanted->node = name;
			return true;
		}
		if (!node.vna_next)
			return false;
		at += node.vna_next;
	}
	return false;
}

static void find_library(const struct elf_file *file, unsigned version,
			 struct elf_wanted *wanted)
{
	uint64_t at = file->nodes;

	for (uint64_t i = 0; i < file->node_files; i++) {
		const void *found = part_at(file, at, sizeof(Elf64_Verneed));
		Elf64_Verneed nodes;

		if (!found)
			return;
		memcpy(&nodes, found, sizeof(nodes));
		if (find_version_node(file, at, &nodes, version, wanted) ||
		    !nodes.vn_next)
			return;
		at += nodes.vn_next;
	}
}

bool elf_wanted(const struct elf_file *file, uint64_t index,
		struct elf_wanted *wanted)
{
	const void *found =
		part_at(file, file->symbols + index * 24, sizeof(Elf64_Sym));
	const void *number =
		file->versions ? part_at(file, file->versions + index * 2, 2)
			       : NULL;
	uint16_t version = 0;
	Elf64_Sym symbol;

	*wanted = (struct elf_wanted){ 0 };
	if (!file->symbols || !found || index > file->asked)
		return false;
	memcpy(&symbol, found, sizeof(symbol));
	if (symbol.st_shndx != SHN_UNDEF)
		return false;
	wanted->name = text_at(file, symbol.st_name);
	if (number)
		memcpy(&version, number, sizeof(version));
	if ((version & VERSION_MASK) > VER_NDX_GLOBAL)
		find_library(file, version & VERSION_MASK, wanted);
	return wanted->name && *wanted->name;
}
