//! The target `lua`: see `leaselint_fuzz::lua`.

#![no_main]

use leaselint_fuzz::mutation::{WORDS_OF_LUA, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| leaselint_fuzz::lua(data));

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate(data, size, most, seed, WORDS_OF_LUA, libfuzzer_sys::fuzzer_mutate)
});
