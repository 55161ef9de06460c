// A function and its gradient, for the check: Rust without a crate.
//
//     rustc -O -o program docs/examples/program.rs && gradcheck-ref check -- ./program
//
// A request is one line of JSON whose reals are strings: the numbers of W are found by looking for
// "W". Points come as text, one at a time, since the hello promises no more.
use std::io::{self, BufRead, Write};

const X: [f64; 3] = [1.0, -0.5, 2.0];
const Y: [f64; 2] = [0.5, -0.2];

// A layer of two units: the sum of (tanh(W x + b) - y)^2. W comes row by row.
fn units(w: &[f64], b: &[f64]) -> Vec<f64> {
    let row = |i: usize| X.iter().zip(&w[3 * i..]).map(|(x, w)| x * w).sum::<f64>();
    (0..2).map(|i| (row(i) + b[i]).tanh()).collect()
}

fn loss(w: &[f64], b: &[f64]) -> f64 {
    units(w, b).iter().zip(Y).map(|(t, y)| (t - y).powi(2)).sum()
}

fn gradient(w: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let slope = |(t, y): (&f64, f64)| 2.0 * (t - y) * (1.0 - t * t);
    let db: Vec<f64> = units(w, b).iter().zip(Y).map(slope).collect();
    let dw = db.iter().flat_map(|d| X.map(|x| d * x)).collect();
    (dw, db)
}

/// What stands after a key: a word in quotes, or a list of them, without the quotes.
fn words<'a>(line: &'a str, key: &str) -> Vec<&'a str> {
    let quoted = format!("\"{key}\":");
    let Some(at) = line.find(&quoted) else { return Vec::new() };
    let rest = line[at + quoted.len()..].trim_start();
    let end = if rest.starts_with('[') { rest.find(']') } else { rest.find([',', '}']) };
    let inside = &rest[..end.unwrap_or(rest.len())];
    inside.split('"').skip(1).step_by(2).collect()
}

fn reals(line: &str, key: &str) -> Vec<f64> {
    words(line, key).iter().map(|word| word.parse().expect("a real")).collect()
}

fn list(numbers: &[f64]) -> String {
    let quoted: Vec<String> = numbers.iter().map(|v| format!("\"{v:e}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

fn main() {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let (id, ask) = (words(&line, "id")[0], words(&line, "ask")[0]);
        let (w, b) = (reals(&line, "W"), reals(&line, "b"));
        let answer = match ask {
            "hello" => r#""protocol": 1, "name": "program.rs",
                "answers": ["describe", "value", "gradient"]"#.replace('\n', " "),
            "describe" => r#""inputs": [
                {"name": "W", "shape": [2, 3], "default": ["0.3", "-0.2", "0.1", "0.4", "0.5", "-0.6"]},
                {"name": "b", "shape": [2], "default": ["0.1", "-0.3"]}]"#.replace('\n', " "),
            "value" => format!("\"values\": {}", list(&[loss(&w, &b)])),
            "gradient" => {
                let (dw, db) = gradient(&w, &b);
                format!("\"gradient\": {{\"W\": {}, \"b\": {}}}", list(&dw), list(&db))
            }
            other => format!("\"problem\": \"asked for {other}\""),
        };
        println!("{{\"id\": \"{id}\", {answer}}}");
        io::stdout().flush().expect("somebody listens");
    }
}
