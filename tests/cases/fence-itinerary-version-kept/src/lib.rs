pub mod itineraries;
pub mod itinerary;
