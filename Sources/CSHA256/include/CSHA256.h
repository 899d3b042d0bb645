#pragma once
#include <stddef.h>
#include <stdint.h>

// Takes whole blocks of 64 bytes into a SHA-256 state with the processor's own instructions. Where it
// has none, nothing is done and 0 is returned.
int sha256_take_blocks(uint32_t state[8], const uint8_t *bytes, size_t blocks);
