//! A block as a tree, and what it does.

use std::collections::BTreeMap;

use thiserror::Error;

use super::operator::{Binary, Comparison, Unary};
use super::value::{self, Value};
use crate::error::{Unsupported, suggestion};
use crate::script::Position;

/// Variables of a script's blocks, which keep their values from block to block.
pub type Variables = BTreeMap<String, Value>;

/// A block that has been read.
#[derive(Clone, Debug)]
pub struct Block {
    pub(super) statements: Vec<Statement>,
}

/// A statement with its place.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) at: Position,
    pub(super) action: Action,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Assign { name: String, value: Expression },
    Assert { condition: Expression, source: String, message: Option<Expression> },
    Print(Vec<Expression>),
    Nothing,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Value(Value),
    Name(Position, String),
    List(Vec<Expression>),
    Format(Vec<Expression>),
    Call { name: String, arguments: Vec<Expression> },
    Unary(Unary, Box<Expression>),
    Binary { operator: Binary, left: Box<Expression>, right: Box<Expression> },
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Compare { first: Box<Expression>, rest: Vec<(Comparison, Expression)> },
    Choice { condition: Box<Expression>, yes: Box<Expression>, no: Box<Expression> },
}

/// Why a block has not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Stop {
    /// An assertion does not hold, or an operation is not possible with these values.
    #[error("line {}: {message}", at.line)]
    Failed {
        /// Place of the statement.
        at: Position,
        /// The assertion with the values of its variables, or the reason.
        message: String,
    },
    /// The block needs something that this reader does not have.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

impl Block {
    /// Runs the statements in order. Texts that the block prints are added to `printed`.
    ///
    /// # Errors
    /// The first assertion that does not hold, or the first name that is unknown.
    pub fn run(&self, variables: &mut Variables, printed: &mut Vec<String>) -> Result<(), Stop> {
        for statement in &self.statements {
            statement.run(variables, printed).map_err(|problem| match problem {
                Problem::Wrong(message) => Stop::Failed { at: statement.at, message },
                Problem::Unsupported(unsupported) => Stop::Unsupported(unsupported),
            })?;
        }
        Ok(())
    }
}

/// A problem of a statement, without the statement's place.
enum Problem {
    Wrong(String),
    Unsupported(Unsupported),
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::Wrong(message)
    }
}

impl Statement {
    fn run(&self, variables: &mut Variables, printed: &mut Vec<String>) -> Result<(), Problem> {
        match &self.action {
            Action::Assign { name, value } => {
                let value = value.value(variables)?;
                variables.insert(name.clone(), value);
            }
            Action::Assert { condition, source, message } => {
                if !condition.value(variables)?.truth() {
                    let mut text = format!("assert {source}{}", condition.explain(variables));
                    if let Some(message) = message {
                        text = format!("{text} ({})", message.value(variables)?);
                    }
                    return Err(text.into());
                }
            }
            Action::Print(values) => {
                let words: Result<Vec<String>, Problem> = values.iter().map(|value| Ok(value.value(variables)?.to_string())).collect();
                printed.push(words?.join(" "));
            }
            Action::Nothing => {}
        }
        Ok(())
    }
}

impl Expression {
    /// The value with these variables.
    fn value(&self, variables: &Variables) -> Result<Value, Problem> {
        let many = |items: &[Self]| items.iter().map(|item| item.value(variables)).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Self::Value(value) => value.clone(),
            Self::Name(at, name) => variables.get(name).cloned().ok_or_else(|| {
                let what = format!("the variable `{name}` is unknown{}", suggestion(name, variables.keys().map(String::as_str)));
                Problem::Unsupported(Unsupported { at: *at, what })
            })?,
            Self::List(items) => Value::List(many(items)?),
            Self::Format(parts) => Value::Text(many(parts)?.iter().map(Value::to_string).collect()),
            Self::Call { name, arguments } => value::function(name, many(arguments)?)?,
            Self::Unary(Unary::Not, operand) => Value::Bool(!operand.value(variables)?.truth()),
            Self::Unary(operator, operand) => value::unary(*operator, &operand.value(variables)?)?,
            Self::Binary { operator, left, right } => value::binary(*operator, &left.value(variables)?, &right.value(variables)?)?,
            Self::And(left, right) => {
                let left = left.value(variables)?;
                if left.truth() { right.value(variables)? } else { left }
            }
            Self::Or(left, right) => {
                let left = left.value(variables)?;
                if left.truth() { left } else { right.value(variables)? }
            }
            Self::Compare { first, rest } => {
                let mut left = first.value(variables)?;
                for (comparison, right) in rest {
                    let right = right.value(variables)?;
                    if !value::compare(*comparison, &left, &right)? {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Value::Bool(true)
            }
            Self::Choice { condition, yes, no } => {
                if condition.value(variables)?.truth() {
                    yes.value(variables)?
                } else {
                    no.value(variables)?
                }
            }
        })
    }

    /// The values of the variables in the expression, for the message of an assertion.
    fn explain(&self, variables: &Variables) -> String {
        let mut names = Vec::new();
        self.names(&mut names);
        let mut said: Vec<&str> = Vec::new();
        let mut text = String::new();
        for name in names {
            if let (false, Some(value)) = (said.contains(&name), variables.get(name)) {
                text.push_str(if said.is_empty() { ": " } else { ", " });
                text.push_str(name);
                text.push_str(" is ");
                text.push_str(&value.quoted());
                said.push(name);
            }
        }
        text
    }

    /// The names in the expression, from left to right.
    fn names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Value(_) => {}
            Self::Name(_, name) => names.push(name),
            Self::List(items) | Self::Format(items) | Self::Call { arguments: items, .. } => {
                for item in items {
                    item.names(names);
                }
            }
            Self::Unary(_, inner) => inner.names(names),
            Self::Binary { left, right, .. } | Self::And(left, right) | Self::Or(left, right) => {
                left.names(names);
                right.names(names);
            }
            Self::Compare { first, rest } => {
                first.names(names);
                for (_, item) in rest {
                    item.names(names);
                }
            }
            Self::Choice { condition, yes, no } => {
                for item in [yes, condition, no] {
                    item.names(names);
                }
            }
        }
    }
}
