//! The target `config`: see `leaselint_fuzz::config`.

#![no_main]

use leaselint_fuzz::mutation::{WORDS_OF_CONFIG, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| leaselint_fuzz::config(data));

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate(data, size, most, seed, WORDS_OF_CONFIG, libfuzzer_sys::fuzzer_mutate)
});
