/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Replaces the errors of the static libelf. Distributions compile it for programs: its only thread-local variable, the last error, then
 * cannot be linked into a shared library such as a module of Python. libbpf only prints the message.
 */
int elf_errno(void)
{
	return 0;
}

const char *elf_errmsg(int error)
{
	(void)error;
	return "libelf failed";
}

void __attribute__((visibility("hidden"))) __libelf_seterrno(int value)
{
	(void)value;
}
