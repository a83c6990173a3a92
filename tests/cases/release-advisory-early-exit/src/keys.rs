/// Advisory lock numbers of this database. Never reuse one.
#[repr(i64)]
#[derive(Clone, Copy)]
pub enum AdvisoryKey {
    PartitionKeeper = 0x70_6b_01,
    Reindex = 0x70_6b_02,
}

impl AdvisoryKey {
    pub fn id(self) -> i64 {
        self as i64
    }
}
