use gethostname::gethostname;

/// How this agent calls itself towards the others.
pub fn owner_name() -> String {
    gethostname().to_string_lossy().into_owned()
}
