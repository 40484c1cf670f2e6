# Turns FILES (comma list, relative to ROOT) into the table of configs/builtin.h.
# SPDX-License-Identifier: MIT
string(REPLACE "," ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} hex HEX)
  string(LENGTH "${hex}" length)
  math(EXPR size "${length} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND arrays "static const unsigned char file${number}[] = {\n${hex}0x00\n};\n")
  string(APPEND rows "\t{ \"${file}\", (const char *)file${number}, ${size} },\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"configs/builtin.h\"\n\n${arrays}
const struct builtin_file builtin_files[] = {\n${rows}\t{ NULL, NULL, 0 }\n};\n")
