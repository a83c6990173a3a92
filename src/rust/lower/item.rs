//! Items: functions with their surroundings, constants, types, `use` and `mod` declarations.

use crate::facts::Span;
use crate::facts::rust::{
    Constant, Field, Function, Generic, ModuleDeclaration, Param, RustFile, Setting, Type, TypeDefinition,
    TypeForm, TypeKind, Use,
};

use super::{Source, expr, pattern, tables, types};

/// Collects the facts of one file, with the modules and the `impl` block that the walk is in.
pub(super) struct Items<'a> {
    pub(super) source: Source<'a>,
    pub(super) facts: RustFile,
    pub(super) module: Vec<String>,
    pub(super) is_test: bool,
}

/// The `impl` or `trait` block around a function.
#[derive(Clone, Default)]
struct Surroundings {
    owner: Option<String>,
    implements: Option<String>,
    generics: Vec<Generic>,
}

impl<'a> Items<'a> {
    pub(super) fn new(source: Source<'a>) -> Self {
        Self { source, facts: RustFile::default(), module: Vec::new(), is_test: false }
    }

    pub(super) fn module(&mut self, items: &[syn::Item], is_test: bool) {
        let before = self.is_test;
        self.is_test |= is_test;
        for item in items {
            self.item(item);
        }
        self.is_test = before;
    }

    pub(super) fn item(&mut self, item: &syn::Item) {
        match item {
            syn::Item::Fn(function) => self.function(
                &function.attrs,
                &function.sig,
                Some(&function.block),
                &Surroundings::default(),
                function.sig.fn_token.span,
            ),
            syn::Item::Mod(module) => self.submodule(module),
            syn::Item::Impl(block) => self.implementation(block),
            syn::Item::Trait(block) => self.trait_block(block),
            syn::Item::Const(constant) => self.constant(
                &constant.attrs,
                None,
                &constant.ident,
                Some(&constant.ty),
                Some(&constant.expr),
            ),
            syn::Item::Static(constant) => self.constant(
                &constant.attrs,
                None,
                &constant.ident,
                Some(&constant.ty),
                Some(&constant.expr),
            ),
            syn::Item::Struct(definition) => {
                let kind = TypeKind::Struct { fields: fields(&definition.fields) };
                let settings = tables::settings_of_fields(&definition.fields);
                self.definition(&definition.attrs, &definition.ident, kind, settings);
                self.entity(&definition.attrs, &definition.fields, &definition.ident);
            }
            syn::Item::Enum(definition) => {
                let variants = definition.variants.iter().map(|v| v.ident.to_string()).collect();
                let settings = tables::settings_of_variants(&definition.variants);
                self.definition(&definition.attrs, &definition.ident, TypeKind::Enum { variants }, settings);
            }
            syn::Item::Type(alias) => {
                let kind = TypeKind::Alias(types::ty(&alias.ty));
                self.definition(&alias.attrs, &alias.ident, kind, Vec::new());
            }
            syn::Item::Use(declaration) => {
                let mut path = Vec::new();
                self.use_tree(&declaration.tree, &mut path);
            }
            syn::Item::Macro(call) => self.item_macro(call),
            _ => {}
        }
    }

    fn submodule(&mut self, module: &syn::ItemMod) {
        let is_test = is_test(&module.attrs);
        let name = module.ident.to_string();
        match &module.content {
            Some((_, items)) => {
                self.module.push(name);
                self.module(items, is_test);
                self.module.pop();
            }
            None => {
                let path = module.attrs.iter().find_map(|attribute| path_attribute(self.source, attribute));
                let is_test = self.is_test || is_test;
                let module = self.module.clone();
                self.facts.modules.push(ModuleDeclaration { module, name, path, is_test });
            }
        }
    }

    fn implementation(&mut self, block: &syn::ItemImpl) {
        let implements = block.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        let surroundings = Surroundings {
            owner: Some(owner_name(&types::ty(&block.self_ty))),
            implements: implements.map(|segment| segment.ident.to_string()),
            generics: generics(&block.generics),
        };
        let before = self.is_test;
        self.is_test |= is_test(&block.attrs);
        for item in &block.items {
            match item {
                syn::ImplItem::Fn(method) => self.function(
                    &method.attrs,
                    &method.sig,
                    Some(&method.block),
                    &surroundings,
                    method.sig.fn_token.span,
                ),
                syn::ImplItem::Const(constant) => self.constant(
                    &constant.attrs,
                    surroundings.owner.clone(),
                    &constant.ident,
                    Some(&constant.ty),
                    Some(&constant.expr),
                ),
                _ => {}
            }
        }
        self.is_test = before;
    }

    fn trait_block(&mut self, block: &syn::ItemTrait) {
        let name = block.ident.to_string();
        let surroundings = Surroundings {
            owner: Some(name.clone()),
            implements: Some(name),
            generics: generics(&block.generics),
        };
        self.definition(&block.attrs, &block.ident, TypeKind::Trait, Vec::new());
        for item in &block.items {
            match item {
                syn::TraitItem::Fn(method) => self.function(
                    &method.attrs,
                    &method.sig,
                    method.default.as_ref(),
                    &surroundings,
                    method.sig.fn_token.span,
                ),
                syn::TraitItem::Const(constant) => self.constant(
                    &constant.attrs,
                    surroundings.owner.clone(),
                    &constant.ident,
                    Some(&constant.ty),
                    constant.default.as_ref().map(|(_, value)| value),
                ),
                _ => {}
            }
        }
    }

    fn function(
        &mut self,
        attributes: &[syn::Attribute],
        signature: &syn::Signature,
        body: Option<&syn::Block>,
        surroundings: &Surroundings,
        keyword: proc_macro2::Span,
    ) {
        let start = attributes.first().map_or(keyword, |attribute| attribute.pound_token.span);
        let end = body.map_or_else(|| signature.ident.span(), |block| block.brace_token.span.close());
        let is_test_before = self.is_test;
        self.is_test |= is_test(attributes);
        let function = Function {
            module: self.module.clone(),
            name: signature.ident.to_string(),
            name_span: self.source.span(signature.ident.span()),
            span: self.source.span(start).to(self.source.span(end)),
            owner: surroundings.owner.clone(),
            implements: surroundings.implements.clone(),
            has_self: signature.receiver().is_some(),
            is_async: signature.asyncness.is_some(),
            attributes: attributes.iter().map(attribute_name).collect(),
            is_test: self.is_test,
            generics: [surroundings.generics.clone(), generics(&signature.generics)].concat(),
            params: signature.inputs.iter().filter_map(|input| self.param(input)).collect(),
            result: match &signature.output {
                syn::ReturnType::Type(_, result) => Some(types::ty(result)),
                syn::ReturnType::Default => None,
            },
            body: None,
        };
        let index = self.facts.functions.len();
        self.facts.functions.push(function);
        let body = body.map(|block| expr::Lowering::new(self).block(block));
        self.facts.functions[index].body = body;
        self.is_test = is_test_before;
    }

    fn param(&self, input: &syn::FnArg) -> Option<Param> {
        match input {
            syn::FnArg::Typed(typed) => {
                let by_reference = matches!(*typed.ty, syn::Type::Reference(_));
                let pattern = pattern::pattern(self.source, &typed.pat);
                Some(Param { pattern, ty: types::ty(&typed.ty), by_reference })
            }
            syn::FnArg::Receiver(_) => None,
        }
    }

    fn constant(
        &mut self,
        attributes: &[syn::Attribute],
        owner: Option<String>,
        name: &syn::Ident,
        ty: Option<&syn::Type>,
        value: Option<&syn::Expr>,
    ) {
        let value = value.map(|value| expr::Lowering::new(self).expr(value));
        let constant = Constant {
            module: self.module.clone(),
            owner,
            name: name.to_string(),
            ty: ty.map(types::ty),
            value,
            span: self.source.span(name.span()),
            is_test: self.is_test || is_test(attributes),
        };
        self.facts.constants.push(constant);
    }

    fn definition(
        &mut self,
        attributes: &[syn::Attribute],
        name: &syn::Ident,
        kind: TypeKind,
        settings: Vec<Setting>,
    ) {
        self.facts.types.push(TypeDefinition {
            module: self.module.clone(),
            name: name.to_string(),
            kind,
            derives: derives(attributes),
            settings: [tables::settings(attributes, None), settings].concat(),
            span: self.source.span(name.span()),
            is_test: self.is_test || is_test(attributes),
        });
    }

    fn use_tree(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.use_tree(&step.tree, path);
                path.pop();
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                let name = path.last().cloned().unwrap_or_default();
                self.add_use(path.clone(), name);
            }
            syn::UseTree::Name(name) => {
                let mut full = path.clone();
                full.push(name.ident.to_string());
                self.add_use(full, name.ident.to_string());
            }
            syn::UseTree::Rename(rename) => {
                let mut full = path.clone();
                if rename.ident != "self" {
                    full.push(rename.ident.to_string());
                }
                self.add_use(full, rename.rename.to_string());
            }
            syn::UseTree::Glob(_) => self.add_use(path.clone(), "*".to_owned()),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.use_tree(tree, path);
                }
            }
        }
    }

    fn add_use(&mut self, path: Vec<String>, name: String) {
        self.facts.uses.push(Use { module: self.module.clone(), path, name });
    }

    fn item_macro(&mut self, call: &syn::ItemMacro) {
        let path = pattern::segments(&call.mac.path);
        match path.last().map(String::as_str) {
            Some("macro_rules") => return,
            Some("table") => return self.table_macro(call),
            _ => {}
        }
        for item in super::macros::items_inside(&call.mac) {
            self.item(&item);
        }
    }
}

/// The name of the type that an `impl` block is for: its last segment, or its form.
fn owner_name(ty: &Type) -> String {
    match ty.kind {
        TypeForm::Path | TypeForm::Impl | TypeForm::Dyn => ty.name().to_owned(),
        _ => String::new(),
    }
}

fn fields(fields: &syn::Fields) -> Vec<Field> {
    fields
        .iter()
        .enumerate()
        .map(|(index, field)| Field {
            name: field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string),
            ty: types::ty(&field.ty),
        })
        .collect()
}

fn generics(written: &syn::Generics) -> Vec<Generic> {
    let mut all: Vec<Generic> = written
        .type_params()
        .map(|param| Generic { name: param.ident.to_string(), bounds: types::traits(param.bounds.iter()) })
        .collect();
    for predicate in written.where_clause.iter().flat_map(|clause| &clause.predicates) {
        let syn::WherePredicate::Type(predicate) = predicate else { continue };
        let name = types::ty(&predicate.bounded_ty).name().to_owned();
        let bounds = types::traits(predicate.bounds.iter());
        match all.iter_mut().find(|generic| generic.name == name) {
            Some(generic) => generic.bounds.extend(bounds),
            None => all.push(Generic { name, bounds }),
        }
    }
    all
}

fn attribute_name(attribute: &syn::Attribute) -> String {
    pattern::segments(attribute.path()).join("::")
}

/// `#[test]`, `#[tokio::test]`, `#[cfg(test)]` and conditions that name `test` without denying it.
pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        if path
            .segments
            .last()
            .is_some_and(|s| s.ident == "test" || s.ident == "rstest" || s.ident == "bench")
        {
            return true;
        }
        path.is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if names_test(list.tokens.clone()))
    })
}

fn names_test(tokens: proc_macro2::TokenStream) -> bool {
    let mut denied = false;
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Ident(word) if word == "test" => return true,
            proc_macro2::TokenTree::Ident(word) => denied = word == "not",
            proc_macro2::TokenTree::Group(group) if !denied && names_test(group.stream()) => return true,
            _ => {}
        }
    }
    false
}

/// What is derived, conditions left out.
pub(super) fn derives(attributes: &[syn::Attribute]) -> Vec<String> {
    let mut names = Vec::new();
    for list in metas(attributes).into_iter().filter(|meta| meta.path().is_ident("derive")) {
        let syn::Meta::List(list) = list else { continue };
        // A malformed derive is the compiler's to report.
        let _ = list.parse_nested_meta(|meta| {
            names.extend(meta.path.segments.last().map(|segment| segment.ident.to_string()));
            Ok(())
        });
    }
    names
}

/// The contents of attributes, with those behind the condition of a `cfg_attr`.
pub(super) fn metas(attributes: &[syn::Attribute]) -> Vec<syn::Meta> {
    let list = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
    let mut all = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("cfg_attr") {
            all.extend(attribute.parse_args_with(list).into_iter().flatten().skip(1));
        } else {
            all.push(attribute.meta.clone());
        }
    }
    all
}

fn path_attribute(source: Source<'_>, attribute: &syn::Attribute) -> Option<String> {
    if !attribute.path().is_ident("path") {
        return None;
    }
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
            let span: Span = source.span(text.span());
            crate::rust::literal::decode(source.text(span), span.start).map(|literal| literal.value)
        }
        _ => None,
    }
}
