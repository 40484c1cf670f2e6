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
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic -Wl,-soname,${soname})
  target_link_libraries(${target} PRIVATE pthread)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${soname}
    SUFFIX "" NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${folder})
endfunction()

set(phantom_libraries ${PROJECT_BINARY_DIR}/phantom)
autofit_phantom_library(phantom_cuda libcuda.so.1 ${phantom_libraries}
  ${phantom_driver_sources})
autofit_phantom_library(phantom_nvml libnvidia-ml.so.1 ${phantom_libraries}
  ${phantom_nvml_sources})
foreach(target phantom_cuda phantom_nvml)
  target_compile_options(${target} PRIVATE -O2 -g0 -Wall -Wextra -Wpedantic
    -Wshadow)
  target_link_options(${target} PRIVATE -s -Wl,--no-undefined)
endforeach()
