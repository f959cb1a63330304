/* core/poison.h - memory that must not be touched, told to the address sanitizer. */
#ifndef CORE_POISON_H
#define CORE_POISON_H

#if defined __SANITIZE_ADDRESS__
#define HAVE_POISON 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define HAVE_POISON 1
#endif
#endif

#ifdef HAVE_POISON
#include <sanitizer/asan_interface.h>
#define POISON(at, bytes)   ASAN_POISON_MEMORY_REGION((at), (bytes))
#define UNPOISON(at, bytes) ASAN_UNPOISON_MEMORY_REGION((at), (bytes))
#else
#define POISON(at, bytes)   ((void)(at), (void)(bytes))
#define UNPOISON(at, bytes) ((void)(at), (void)(bytes))
#endif

#endif
