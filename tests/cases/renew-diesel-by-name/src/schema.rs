// @generated automatically by Diesel CLI.

diesel::table! {
    leases (name) {
        name -> Varchar,
        holder -> Uuid,
        valid_until -> Timestamptz,
    }
}
