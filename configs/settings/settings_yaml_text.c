/* Types of YAML scalars, and a check of texts that libyaml is too slow for. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include <string.h>

#define DIRECTIVES_MAX 100

bool settings_is_yaml_number_tag(const char *tag)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	size_t length = sizeof(prefix) - 1;

	if (strncmp(tag, prefix, length) != 0)
		return false;
	tag += length;
	return strcmp(tag, "int") == 0 || strcmp(tag, "float") == 0 ||
	       strcmp(tag, "str") == 0;
}

bool settings_is_yaml_octal(const char *value)
{
	value += *value == '-' || *value == '+';
	return value[0] == '0' && (name_is_digit(value[1]) || value[1] == '_');
}

bool settings_is_yaml_null(const char *value)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(value, words[i]) == 0)
			return true;
	return false;
}

int settings_check_directives(struct settings_reader *reader)
{
	unsigned count = 0;

	for (size_t i = 0; i < reader->length; i++)
		if (reader->text[i] == '%' &&
		    (i == 0 || strchr("\r\n", reader->text[i - 1])) &&
		    ++count > DIRECTIVES_MAX)
			return settings_fail(reader, i,
					     "it has too many directives");
	return 0;
}
