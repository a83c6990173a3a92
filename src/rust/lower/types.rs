//! Types as written: their paths and arguments, without references and lifetimes.

use crate::facts::rust::{Type, TypeForm};

pub(super) fn ty(written: &syn::Type) -> Type {
    match written {
        syn::Type::Reference(inner) => ty(&inner.elem),
        syn::Type::Paren(inner) => ty(&inner.elem),
        syn::Type::Group(inner) => ty(&inner.elem),
        syn::Type::Ptr(inner) => ty(&inner.elem),
        syn::Type::Path(path) => from_path(&path.path),
        syn::Type::ImplTrait(bounds) => from_bounds(TypeForm::Impl, bounds.bounds.iter()),
        syn::Type::TraitObject(bounds) => from_bounds(TypeForm::Dyn, bounds.bounds.iter()),
        syn::Type::Tuple(tuple) => compound(TypeForm::Tuple, tuple.elems.iter().map(ty)),
        syn::Type::Array(array) => compound(TypeForm::Slice, [ty(&array.elem)]),
        syn::Type::Slice(slice) => compound(TypeForm::Slice, [ty(&slice.elem)]),
        syn::Type::FnPtr(function) => {
            compound(TypeForm::Function, function.inputs.iter().map(|input| ty(&input.ty)))
        }
        _ => Type::unknown(),
    }
}

fn compound(kind: TypeForm, args: impl IntoIterator<Item = Type>) -> Type {
    Type { kind, path: Vec::new(), args: args.into_iter().collect() }
}

pub(super) fn from_path(path: &syn::Path) -> Type {
    let segments = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let args = path.segments.last().map(|last| arguments(&last.arguments)).unwrap_or_default();
    Type { kind: TypeForm::Path, path: segments, args }
}

fn arguments(written: &syn::PathArguments) -> Vec<Type> {
    match written {
        syn::PathArguments::AngleBracketed(list) => generic_arguments(list),
        syn::PathArguments::Parenthesized(call) => {
            let mut args: Vec<Type> = call.inputs.iter().map(|input| ty(&input.ty)).collect();
            if let syn::ReturnType::Type(_, result) = &call.output {
                args.push(ty(result));
            }
            args
        }
        syn::PathArguments::None => Vec::new(),
    }
}

pub(super) fn generic_arguments(list: &syn::AngleBracketedGenericArguments) -> Vec<Type> {
    list.args
        .iter()
        .filter_map(|argument| match argument {
            syn::GenericArgument::Type(inner) => Some(ty(inner)),
            syn::GenericArgument::AssocType(inner) => Some(ty(&inner.ty)),
            _ => None,
        })
        .collect()
}

/// The first trait bound as the type, the others as its arguments.
pub(super) fn from_bounds<'a>(kind: TypeForm, bounds: impl Iterator<Item = &'a syn::TypeParamBound>) -> Type {
    let mut all = traits(bounds).into_iter();
    let Some(first) = all.next() else { return Type::unknown() };
    let mut bound = Type { kind, ..first };
    bound.args.extend(all);
    bound
}

pub(super) fn traits<'a>(bounds: impl Iterator<Item = &'a syn::TypeParamBound>) -> Vec<Type> {
    bounds
        .filter_map(|bound| match bound {
            syn::TypeParamBound::Trait(bound) => Some(from_path(&bound.path)),
            _ => None,
        })
        .collect()
}
