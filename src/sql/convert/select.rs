//! Queries, their sources and their common table expressions.

use sqlparser::ast;

use super::Converter;
use crate::facts::Span;
use crate::facts::sql::{Cte, CteBody, Expr, ExprKind, Select, Source, SourceKind, StatementKind};

impl Converter<'_> {
    /// A statement that starts with SELECT or WITH: the latter may end in a write.
    pub(super) fn query_statement(&self, query: &ast::Query) -> StatementKind {
        use ast::SetExpr as B;
        if let B::Update(statement) | B::Delete(statement) | B::Insert(statement) | B::Merge(statement) =
            &*query.body
            && let Some(mut write) = self.write(statement)
        {
            let mut ctes = self.ctes(query.with.as_ref());
            ctes.append(&mut write.ctes);
            write.ctes = ctes;
            return StatementKind::Write(Box::new(write));
        }
        StatementKind::Select(Box::new(self.select(query)))
    }

    pub(super) fn ctes(&self, with: Option<&ast::With>) -> Vec<Cte> {
        with.map_or_else(Vec::new, |with| {
            with.cte_tables
                .iter()
                .map(|cte| Cte { name: self.source.name(&cte.alias.name), body: self.cte_body(&cte.query) })
                .collect()
        })
    }

    fn cte_body(&self, query: &ast::Query) -> CteBody {
        match self.query_statement(query) {
            StatementKind::Write(write) => CteBody::Write(write),
            StatementKind::Select(select) => CteBody::Select(select),
            _ => CteBody::Other,
        }
    }

    pub(super) fn select(&self, query: &ast::Query) -> Select {
        let mut select = self.body(&query.body);
        let mut ctes = self.ctes(query.with.as_ref());
        ctes.append(&mut select.ctes);
        select.ctes = ctes;
        select.locks_rows |= query.locks.iter().any(|l| matches!(l.lock_type, ast::LockType::Update));
        select.shares_rows |= query.locks.iter().any(|l| matches!(l.lock_type, ast::LockType::Share));
        select.skip_locked |=
            query.locks.iter().any(|l| matches!(l.nonblock, Some(ast::NonBlock::SkipLocked)));
        select.limited |= query.limit_clause.is_some() || query.fetch.is_some();
        select
    }

    fn body(&self, body: &ast::SetExpr) -> Select {
        match body {
            ast::SetExpr::Select(select) => self.plain(select),
            ast::SetExpr::Query(query) => self.select(query),
            ast::SetExpr::SetOperation { .. } => {
                Select { projection: self.branches(body), ..Select::default() }
            }
            ast::SetExpr::Values(values) => {
                let rows = values.rows.iter().flat_map(|r| &r.content);
                Select { projection: rows.map(|e| self.expr(e)).collect(), ..Select::default() }
            }
            _ => Select::default(),
        }
    }

    /// Each side of a UNION as a query of its own: no predicate of one side holds for the other.
    fn branches(&self, body: &ast::SetExpr) -> Vec<Expr> {
        let mut found = Vec::new();
        let mut at = body;
        while let ast::SetExpr::SetOperation { left, right, .. } = at {
            found.push(self.body(right));
            at = left;
        }
        found.push(self.body(at));
        found.reverse();
        let query = |s| Expr { span: Span::default(), kind: ExprKind::Query(Box::new(s)) };
        found.into_iter().map(query).collect()
    }

    fn plain(&self, select: &ast::Select) -> Select {
        let mut found = Select::default();
        for item in &select.projection {
            match item {
                ast::SelectItem::UnnamedExpr(e)
                | ast::SelectItem::ExprWithAlias { expr: e, .. }
                | ast::SelectItem::ExprWithAliases { expr: e, .. } => found.projection.push(self.expr(e)),
                _ => {}
            }
        }
        for table in &select.from {
            self.sources(table, &mut found.sources, &mut found.join_conditions);
        }
        found.predicate = select.selection.as_ref().map(|e| self.expr(e));
        found
    }

    /// The relation of a FROM item and everything joined to it.
    pub(super) fn sources(
        &self,
        table: &ast::TableWithJoins,
        sources: &mut Vec<Source>,
        conditions: &mut Vec<Expr>,
    ) {
        sources.push(self.source(&table.relation));
        self.joins(&table.joins, sources, conditions);
    }

    pub(super) fn joins(&self, joins: &[ast::Join], sources: &mut Vec<Source>, conditions: &mut Vec<Expr>) {
        for join in joins {
            let source = self.source(&join.relation);
            let constraint = constraint(&join.join_operator);
            if let Some(ast::JoinConstraint::Using(columns)) = constraint {
                let alias = source.alias.clone().or_else(|| source_name(&source));
                for column in columns {
                    conditions.push(self.using(column, alias.clone()));
                }
            }
            if let Some(ast::JoinConstraint::On(condition)) = constraint {
                conditions.push(self.expr(condition));
            }
            sources.push(source);
        }
    }

    /// `USING (c)` as the comparison it stands for.
    fn using(&self, column: &ast::ObjectName, joined: Option<String>) -> Expr {
        let span = self.source.name_span(column);
        let name = self.source.table(column).name;
        let side =
            |qualifier| Box::new(Expr { span, kind: ExprKind::Column { qualifier, name: name.clone() } });
        let operator = crate::facts::sql::Comparison::Equal;
        Expr { span, kind: ExprKind::Compare { operator, left: side(None), right: side(joined) } }
    }

    pub(super) fn source(&self, factor: &ast::TableFactor) -> Source {
        let name = |a: &Option<ast::TableAlias>| a.as_ref().map(|a| self.source.name(&a.name));
        match factor {
            ast::TableFactor::Table { name: table, alias, .. } => {
                Source { alias: name(alias), kind: SourceKind::Table(self.source.table(table)) }
            }
            ast::TableFactor::Derived { subquery, alias, .. } => {
                Source { alias: name(alias), kind: SourceKind::Query(Box::new(self.select(subquery))) }
            }
            ast::TableFactor::TableFunction { alias, .. }
            | ast::TableFactor::Function { alias, .. }
            | ast::TableFactor::UNNEST { alias, .. } => {
                Source { alias: name(alias), kind: SourceKind::Other }
            }
            ast::TableFactor::NestedJoin { table_with_joins, .. } if self.depth.get() < super::DEEPEST => {
                self.depth.set(self.depth.get() + 1);
                let inner = self.source(&table_with_joins.relation);
                self.depth.set(self.depth.get() - 1);
                inner
            }
            _ => Source { alias: None, kind: SourceKind::Other },
        }
    }
}

fn source_name(source: &Source) -> Option<String> {
    match &source.kind {
        SourceKind::Table(table) => Some(table.name.clone()),
        _ => None,
    }
}

fn constraint(operator: &ast::JoinOperator) -> Option<&ast::JoinConstraint> {
    use ast::JoinOperator as J;
    match operator {
        J::Join(c)
        | J::Inner(c)
        | J::Left(c)
        | J::LeftOuter(c)
        | J::Right(c)
        | J::RightOuter(c)
        | J::FullOuter(c)
        | J::CrossJoin(c)
        | J::StraightJoin(c) => Some(c),
        _ => None,
    }
}
