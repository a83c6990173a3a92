//! The target `sql`: see `leaselint_fuzz::sql`.

#![no_main]

use leaselint_fuzz::mutation::{WORDS_OF_SQL, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| leaselint_fuzz::sql(data));

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate(data, size, most, seed, WORDS_OF_SQL, libfuzzer_sys::fuzzer_mutate)
});
