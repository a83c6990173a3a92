diesel::table! {
    invoice_numbers (client, number) {
        client -> Int8,
        number -> Int8,
    }
}
