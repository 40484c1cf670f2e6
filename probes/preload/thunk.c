/* dlsym: hands out wrappers for the driver's names, and nothing else. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/device.h"
#include "probes/preload/real.h"

#include <dlfcn.h>

/* A dlsym that finds nothing, for a process that has none. */
static void *find_nothing(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

static void *find_wrapper(void *handle, const char *name)
{
	enum hook hook = hook_of_name(name);
	void *wrapper = real_wrapper(hook);
	void *found = real_dlsym()(handle, name);

	if (!found)
		return NULL;
	if (found == wrapper) {
		/* It searched everything, and met our own export first. */
		if (real_find_loaded(hook))
			return wrapper;
		found = real_dlsym()(RTLD_NEXT, name);
		/* No jump instead of the call: next to us, not to the caller.
		 */
		__asm__ volatile("" : "+r"(found));
		return found;
	}
	if (real_is_second(hook, found))
		return found;
	real_note(hook, found);
	return wrapper;
}

/*
 * Where a call of dlsym goes on. The real one gets its caller's own call, by a
 * jump: from the return address it sees what RTLD_NEXT is next to and what
 * RTLD_DEFAULT is in the scope of. Only for a name of the table it may be
 * called from here instead. The driver's own lookups are for itself.
 */
__attribute__((used)) real_dlsym_fn *
dlsym_target(void *handle, const char *name, void *caller);

real_dlsym_fn *dlsym_target(void *handle, const char *name, void *caller)
{
	real_dlsym_fn *real = real_dlsym();

	if (!real)
		return find_nothing;
	/* Handed out as it is: it may be a capture that no wrapper sees. */
	if (name && (handle == RTLD_NEXT || hook_of_name(name) == HOOK_COUNT))
		device_note_name(name);
	if (handle == RTLD_NEXT || !name || hook_of_name(name) == HOOK_COUNT ||
	    !hooks_on() || real_is_driver(caller))
		return real;
	return find_wrapper;
}

#if defined(__x86_64__) && defined(__LP64__)
/* Two registers hold the arguments; at the call the stack is aligned. */
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	".p2align 4\n"
	"dlsym:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"pushq %rdi\n"
	".cfi_adjust_cfa_offset 8\n"
	"pushq %rsi\n"
	".cfi_adjust_cfa_offset 8\n"
	"subq $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"movq 24(%rsp), %rdx\n"
	"call dlsym_target\n"
	"addq $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"popq %rsi\n"
	".cfi_adjust_cfa_offset -8\n"
	"popq %rdi\n"
	".cfi_adjust_cfa_offset -8\n"
	"jmp *%rax\n"
	".cfi_endproc\n"
	".size dlsym, . - dlsym\n");
#elif defined(__aarch64__) && defined(__LP64__)
/* hint 34: bti c. Branches by x16 may land on a bti c too. */
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	".p2align 4\n"
	"dlsym:\n"
	".cfi_startproc\n"
	"hint #34\n"
	"stp x29, x30, [sp, #-32]!\n"
	".cfi_def_cfa_offset 32\n"
	".cfi_offset x29, -32\n"
	".cfi_offset x30, -24\n"
	"mov x29, sp\n"
	"stp x0, x1, [sp, #16]\n"
	"mov x2, x30\n"
	"bl dlsym_target\n"
	"mov x16, x0\n"
	"ldp x0, x1, [sp, #16]\n"
	"ldp x29, x30, [sp], #32\n"
	".cfi_restore x29\n"
	".cfi_restore x30\n"
	".cfi_def_cfa_offset 0\n"
	"br x16\n"
	".cfi_endproc\n"
	".size dlsym, . - dlsym\n");
#else
/* Compilers make a jump of it when they optimise. */
WRAPPER void *dlsym(void *handle, const char *name)
{
	return dlsym_target(handle, name, __builtin_return_address(0))(handle,
								       name);
}
#endif
