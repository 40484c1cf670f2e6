# The libraries of a phantom card (probes/phantom/README.md). Any program may
# load them: plain, never sanitized.
# SPDX-License-Identifier: MIT
set(phantom_folder ${PROJECT_SOURCE_DIR}/probes/phantom)
file(GLOB phantom_driver_sources CONFIGURE_DEPENDS ${phantom_folder}/driver/*.c)
set(phantom_state_sources ${phantom_folder}/device/sim_state.c
  ${phantom_folder}/device/sim_events.c)
list(APPEND phantom_driver_sources ${phantom_folder}/device/sim_arena.c
  ${phantom_folder}/device/sim_objects.c ${phantom_folder}/device/sim_share.c
  ${phantom_state_sources})
set(phantom_nvml_sources ${phantom_folder}/device/sim_nvml.c
  ${phantom_state_sources})

# autofit_phantom_library(target soname folder sources...)
function(autofit_phantom_library target soname folder)
  add_library(${target} SHARED ${ARGN})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE -fvisibility=hidden)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  # A driver never binds to hooks of its own names; see -Bsymbolic in ld(1).
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic -Wl,-soname,${soname}
    -Wl,-z,noseparate-code -Wl,--hash-style=gnu)
  target_link_libraries(${target} PRIVATE pthread)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${soname}
    SUFFIX "" NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${folder})
endfunction()

set(phantom_libraries ${PROJECT_BINARY_DIR}/phantom)
autofit_phantom_library(phantom_cuda libcuda.so.1 ${phantom_libraries}
  ${phantom_driver_sources})
autofit_phantom_library(phantom_nvml libnvidia-ml.so.1 ${phantom_libraries}
  ${phantom_nvml_sources})
set(phantom_targets phantom_cuda phantom_nvml)
foreach(target IN LISTS phantom_targets)
  target_compile_options(${target} PRIVATE -O2 -g0 -Wall -Wextra -Wpedantic
    -Wshadow)
  target_link_options(${target} PRIVATE -s -Wl,--no-undefined)
endforeach()

# The CUDA runtime and the mathematical libraries, each by the file name that
# programs ask for, which is the version of its names too (NCCL's have none).
# What they lack of what a program asks for is made when it is loaded (loader/).
set(phantom_sonames libcublas.so.12 libcublas.so.13 libcublasLt.so.12
  libcublasLt.so.13 libcudart.so.12 libcudart.so.13 libcudnn.so.8 libcudnn.so.9
  libcupti.so.12 libcupti.so.13 libcusparse.so.12 libnccl.so.2 libnvrtc.so.12
  libnvrtc.so.13)
file(GLOB phantom_loader_sources CONFIGURE_DEPENDS ${phantom_folder}/loader/*.c)
set(phantom_loader libautofit_phantom.so)
file(MAKE_DIRECTORY ${phantom_libraries}/made)

foreach(soname IN LISTS phantom_sonames phantom_loader)
  # libcudart.so.13: its sources are those of libcudart, and know the 13.
  string(REGEX REPLACE "\\.so.*$" "" stem ${soname})
  string(REGEX REPLACE "^.*\\.so\\.?" "" major ${soname})
  set(node ${soname})
  if(soname STREQUAL phantom_loader)
    set(sources ${phantom_loader_sources})
    set(node "")
  elseif(stem STREQUAL "libcudart")
    file(GLOB sources CONFIGURE_DEPENDS ${phantom_folder}/runtime/runtime*.c)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${phantom_folder}/maths/${stem}.c
      ${phantom_folder}/maths/${stem}_*.c)
  endif()
  if(stem STREQUAL "libnccl")
    set(node "")
  endif()
  set(map ${phantom_libraries}/made/${soname}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "@node@ { global: *; };\n" @ONLY)
  set(target phantom_${stem}_${major})
  autofit_phantom_library(${target} ${soname} ${phantom_libraries} ${sources}
    ${phantom_folder}/device/phantom_note.c)
  target_compile_definitions(${target} PRIVATE PHANTOM_MAJOR=${major})
  target_compile_options(${target} PRIVATE -O2 -g0 -Wall -Wextra -Wpedantic
    -Wshadow)
  target_link_options(${target} PRIVATE -s -Wl,--no-undefined
    -Wl,--version-script=${map})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  list(APPEND phantom_targets ${target})
endforeach()

# What the program carries; phantom_targets: whose building it waits for.
set(phantom_builtin libcuda.so.1 libnvidia-ml.so.1 ${phantom_sonames}
  ${phantom_loader})
