pub mod valves;
