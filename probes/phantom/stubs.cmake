# Writes the functions of one library that nobody wrote by hand (OUTPUT): those
# of the lists of names (NAMES, a comma list of files) that belong to SONAME and
# stand in none of the SOURCES (a comma list). One that only computes answers 0;
# one that hands something back ends the program with a sentence. And the
# library's version script (MAP).
# SPDX-License-Identifier: MIT
cmake_policy(VERSION 3.22)
string(REPLACE "," ";" NAMES "${NAMES}")
string(REPLACE "," ";" SOURCES "${SOURCES}")
set(written "")
foreach(source IN LISTS SOURCES)
  file(READ ${source} text)
  string(APPEND written "${text}")
endforeach()
string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*" written "${written}")

# What hands something back by a pointer, by how such functions are called.
set(gives "Create|Get|_get|BufferSize|bufferSize|CompressedSize|Init$")
string(APPEND gives "|Init_|InitAttr|uniqueid|[Vv]ersion|Estimate")
# The runtime is written by hand: what is not is not there.
set(all_give FALSE)
if(SONAME MATCHES "^libcudart")
  set(all_give TRUE)
endif()

set(code "#include \"probes/phantom/device/phantom_note.h\"\n\n")
string(APPEND code "#define EXPORT __attribute__((visibility(\"default\")))\n\n")
set(nothing TRUE)
set(node "")
set(seen "")
foreach(list IN LISTS NAMES)
  file(STRINGS ${list} rows)
  foreach(row IN LISTS rows)
    string(REPLACE " " ";" row "${row}")
    list(GET row 0 library)
    list(GET row 1 version)
    list(GET row 2 name)
    if(NOT library STREQUAL SONAME)
      continue()
    endif()
    set(node "${version}")
    if(name STREQUAL "-" OR name IN_LIST written OR name IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${name})
    if(all_give OR name MATCHES "${gives}")
      string(APPEND code "EXPORT int ${name}(void);\nEXPORT int ${name}(void)\n"
        "{\n\treturn phantom_refuse(\"${name}\");\n}\n\n")
    else()
      if(nothing)
        string(APPEND code "static int answer_nothing(void)\n{\n\treturn 0;\n}\n\n")
        set(nothing FALSE)
      endif()
      string(APPEND code "EXPORT int ${name}(void)\n"
        "\t__attribute__((alias(\"answer_nothing\")));\n")
    endif()
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "${code}")
if(node STREQUAL "-" OR node STREQUAL "")
  file(WRITE ${MAP} "{ global: *; };\n")
else()
  file(WRITE ${MAP} "${node} { global: *; };\n")
endif()
