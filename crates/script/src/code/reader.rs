//! From tokens to statements: a recursive descent with Python's precedences.

use super::operator::{Binary, Comparison, Unary};
use super::token::{Placed, Token, tokens};
use super::tree::{Action, Block, Expression, Statement};
use super::value::{FUNCTIONS, Value};
use crate::error::{Unsupported, suggestion};
use crate::script::{Code, Position};

/// How deep expressions may be nested: more than any script needs, and few enough for the stack.
const DEEPEST: u32 = 32;

type Read<T> = Result<T, Unsupported>;

/// Operators between operands, with how tightly they bind.
const OPERATORS: [(&str, Binary, u8); 11] = [
    ("|", Binary::Or, 1),
    ("^", Binary::Xor, 2),
    ("&", Binary::And, 3),
    ("<<", Binary::ShiftLeft, 4),
    (">>", Binary::ShiftRight, 4),
    ("+", Binary::Add, 5),
    ("-", Binary::Subtract, 5),
    ("*", Binary::Multiply, 6),
    ("/", Binary::Divide, 6),
    ("//", Binary::FloorDivide, 6),
    ("%", Binary::Modulo, 6),
];
/// Comparisons that are signs.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
];
/// Words that are not names.
const KEYWORDS: [&str; 12] = ["and", "or", "not", "in", "is", "if", "else", "assert", "print", "True", "False", "None"];

/// Reads a block.
///
/// # Errors
/// The first thing that this reader does not know.
pub fn read(code: &Code) -> Result<Block, Unsupported> {
    let tokens = tokens(&code.text, code.at)?;
    let mut reader = Reader { text: &code.text, tokens: &tokens, next: 0, depth: 0 };
    let mut statements = Vec::new();
    while reader.next < tokens.len() {
        if reader.peek().token == Token::End {
            reader.next += 1;
        } else {
            statements.push(reader.statement()?);
        }
    }
    Ok(Block { statements })
}

/// A place among the tokens.
struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Placed],
    next: usize,
    depth: u32,
}

impl Reader<'_> {
    fn peek(&self) -> &Placed {
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn at(&self) -> Position {
        self.peek().at
    }

    fn sign(&mut self, sign: &str) -> bool {
        let here = matches!(self.peek().token, Token::Sign(found) if found == sign);
        self.next += usize::from(here);
        here
    }

    fn word(&mut self, word: &str) -> bool {
        let here = matches!(&self.peek().token, Token::Word(found) if found == word);
        self.next += usize::from(here);
        here
    }

    /// An error about what stands here.
    fn unknown(&self) -> Unsupported {
        let placed = self.peek();
        let what = match &placed.token {
            Token::End => "the assertion reader expected a value before the end of the line".to_owned(),
            _ => format!("the assertion reader does not know `{}` here", &self.text[placed.span.0..placed.span.1]),
        };
        Unsupported { at: placed.at, what }
    }

    fn statement(&mut self) -> Read<Statement> {
        let at = self.at();
        let action = if self.word("assert") {
            let start = self.next;
            let condition = self.expression()?;
            let (first, last) = (self.tokens[start].span.0, self.tokens[self.next - 1].span.1);
            let source = self.text[first..last].split_whitespace().collect::<Vec<_>>().join(" ");
            let message = if self.sign(",") { Some(self.expression()?) } else { None };
            Action::Assert { condition, source, message }
        } else if self.word("print") {
            Action::Print(self.printed()?)
        } else if self.word("pass") {
            Action::Nothing
        } else {
            self.assignment()?
        };
        if self.peek().token != Token::End {
            return Err(self.unknown());
        }
        Ok(Statement { at, action })
    }

    /// The values after `print`: as a function's arguments, or bare as in Python 2.
    fn printed(&mut self) -> Read<Vec<Expression>> {
        let mut values = Vec::new();
        while self.peek().token != Token::End {
            values.push(self.expression()?);
            if !self.sign(",") {
                break;
            }
        }
        // `print(a, b)` is read as a list in parentheses.
        Ok(match values.pop() {
            Some(Expression::List(items)) if values.is_empty() => items,
            Some(last) => values.into_iter().chain([last]).collect(),
            None => values,
        })
    }

    fn assignment(&mut self) -> Read<Action> {
        let at = self.at();
        let Token::Word(name) = self.peek().token.clone() else { return Err(self.unknown()) };
        if KEYWORDS.contains(&name.as_str()) {
            return Err(self.unknown());
        }
        self.next += 1;
        let Token::Sign(sign) = self.peek().token else {
            self.next -= 1;
            return Err(self.unknown());
        };
        if sign == "=" {
            self.next += 1;
            return Ok(Action::Assign { name, value: self.expression()? });
        }
        let operator = sign.strip_suffix('=').and_then(|sign| OPERATORS.iter().find(|(known, ..)| *known == sign));
        let Some((_, operator, _)) = operator else {
            self.next -= 1;
            return Err(self.unknown());
        };
        self.next += 1;
        let left = Box::new(Expression::Name(at, name.clone()));
        let value = Expression::Binary { operator: *operator, left, right: Box::new(self.expression()?) };
        Ok(Action::Assign { name, value })
    }

    /// Reads `A if B else C`, and all that binds tighter.
    fn expression(&mut self) -> Read<Expression> {
        self.deeper(|reader| {
            let yes = reader.or()?;
            if !reader.word("if") {
                return Ok(yes);
            }
            let condition = reader.or()?;
            if !reader.word("else") {
                return Err(reader.unknown());
            }
            let no = reader.expression()?;
            Ok(Expression::Choice { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) })
        })
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEEPEST {
            return Err(Unsupported { at: self.at(), what: "the expression is nested too deeply".to_owned() });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn or(&mut self) -> Read<Expression> {
        let mut left = self.and()?;
        for _ in 0..DEEPEST {
            if !self.word("or") {
                return Ok(left);
            }
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Err(self.unknown())
    }

    fn and(&mut self) -> Read<Expression> {
        let mut left = self.not()?;
        for _ in 0..DEEPEST {
            if !self.word("and") {
                return Ok(left);
            }
            left = Expression::And(Box::new(left), Box::new(self.not()?));
        }
        Err(self.unknown())
    }

    fn not(&mut self) -> Read<Expression> {
        if self.word("not") {
            return self.deeper(|reader| Ok(Expression::Unary(Unary::Not, Box::new(reader.not()?))));
        }
        let first = self.binary(1)?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison() {
            rest.push((comparison, self.binary(1)?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Compare { first: Box::new(first), rest } })
    }

    fn comparison(&mut self) -> Option<Comparison> {
        if self.word("in") {
            return Some(Comparison::In);
        }
        if self.word("is") {
            return Some(if self.word("not") { Comparison::NotEqual } else { Comparison::Equal });
        }
        if self.word("not") {
            if self.word("in") {
                return Some(Comparison::NotIn);
            }
            self.next -= 1;
            return None;
        }
        let Token::Sign(sign) = self.peek().token else { return None };
        let (_, comparison) = COMPARISONS.iter().find(|(known, _)| *known == sign)?;
        self.next += 1;
        Some(*comparison)
    }

    fn binary(&mut self, least: u8) -> Read<Expression> {
        let mut left = self.unary()?;
        for _ in 0..DEEPEST {
            let Token::Sign(sign) = self.peek().token else { return Ok(left) };
            let Some((_, operator, tightness)) = OPERATORS.iter().find(|(known, _, tight)| *known == sign && *tight >= least) else {
                return Ok(left);
            };
            self.next += 1;
            let right = self.binary(tightness + 1)?;
            left = Expression::Binary { operator: *operator, left: Box::new(left), right: Box::new(right) };
        }
        Err(self.unknown())
    }

    fn unary(&mut self) -> Read<Expression> {
        for (sign, operator) in [("-", Unary::Minus), ("+", Unary::Plus), ("~", Unary::Complement)] {
            if self.sign(sign) {
                return self.deeper(|reader| Ok(Expression::Unary(operator, Box::new(reader.unary()?))));
            }
        }
        let base = self.primary()?;
        if self.sign("**") {
            let right = Box::new(self.deeper(Self::unary)?);
            return Ok(Expression::Binary { operator: Binary::Power, left: Box::new(base), right });
        }
        Ok(base)
    }

    fn primary(&mut self) -> Read<Expression> {
        let at = self.at();
        let token = self.peek().token.clone();
        let value = match token {
            Token::Integer(number) => Expression::Value(Value::Integer(number)),
            Token::Float(number) => Expression::Value(Value::Float(number)),
            Token::Text { text, format: true } => super::text::format(&text, at, |code| {
                let tokens = tokens(code, at)?;
                let mut reader = Reader { text: code, tokens: &tokens, next: 0, depth: self.depth };
                let value = reader.expression()?;
                if reader.next + 1 == tokens.len() { Ok(value) } else { Err(reader.unknown()) }
            })?,
            Token::Text { text, .. } => Expression::Value(Value::Text(text)),
            Token::Word(name) => {
                if let Some(value) = constant(&name) {
                    Expression::Value(value)
                } else if KEYWORDS.contains(&name.as_str()) {
                    return Err(self.unknown());
                } else {
                    self.next += 1;
                    return self.name(at, name);
                }
            }
            Token::Sign(open @ ("(" | "[")) => {
                self.next += 1;
                return self.items(open);
            }
            _ => return Err(self.unknown()),
        };
        self.next += 1;
        Ok(value)
    }

    /// A variable, or the call of a function.
    fn name(&mut self, at: Position, name: String) -> Read<Expression> {
        if !self.sign("(") {
            return Ok(Expression::Name(at, name));
        }
        if !FUNCTIONS.contains(&name.as_str()) {
            let what = format!("the assertion reader has no function `{name}`{}", suggestion(&name, FUNCTIONS));
            return Err(Unsupported { at, what });
        }
        let arguments = self.arguments(")")?.0;
        Ok(Expression::Call { name, arguments })
    }

    /// A list, a tuple, or an expression in parentheses.
    fn items(&mut self, open: &str) -> Read<Expression> {
        let (mut items, comma) = self.arguments(if open == "(" { ")" } else { "]" })?;
        let alone = open == "(" && items.len() == 1 && !comma;
        Ok(match items.pop() {
            Some(only) if alone => only,
            Some(last) => Expression::List(items.into_iter().chain([last]).collect()),
            None => Expression::List(items),
        })
    }

    /// Expressions between commas up to `close`, and whether a comma ends them.
    fn arguments(&mut self, close: &str) -> Read<(Vec<Expression>, bool)> {
        let mut items = Vec::new();
        let mut comma = false;
        while !self.sign(close) {
            if !items.is_empty() && !comma {
                return Err(self.unknown());
            }
            items.push(self.expression()?);
            comma = self.sign(",");
        }
        Ok((items, comma))
    }
}

/// Constants: `TCP_CA_…` of `tcpi_ca_state`, other `TCP_…` of `tcpi_state`, and `TCPI_OPT_…`, the bits of `tcpi_options`.
const CONSTANTS: [(&str, i64); 23] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_INFINITE_SSTHRESH", 0x7fff_ffff),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
];

/// The value of a constant's name.
fn constant(name: &str) -> Option<Value> {
    Some(match name {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        "None" => Value::None,
        _ => CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| Value::Integer(*value))?,
    })
}
