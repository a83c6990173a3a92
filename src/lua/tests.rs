//! Scripts, good and bad, with what must be read of them.

use super::parse;
use crate::facts::lua::{Command, Operand, Script};

/// The commands in short: name, key, and `=` with the operand where a comparison on the same key
/// guards it, `free` where the key is known to be absent, `-` where nothing guards it.
fn outline(script: &Script) -> String {
    let commands = script.commands.iter().map(|command| {
        let verdict = match &command.guard {
            Some(guard) if guard.key == command.key => format!("={}", short(&guard.against)),
            _ if command.only_if_absent => "free".to_owned(),
            _ => "-".to_owned(),
        };
        format!("{} {} {verdict}", command.name, short(&command.key))
    });
    commands.collect::<Vec<_>>().join("; ")
}

fn short(operand: &Operand) -> String {
    match operand {
        Operand::Key(n) => format!("K{n}"),
        Operand::Arg(n) => format!("A{n}"),
        Operand::Text(text) => format!("'{text}'"),
        Operand::Number(n) => n.to_string(),
        Operand::Joined(parts) => parts.iter().map(short).collect::<Vec<_>>().join(".."),
        Operand::Local(name) => name.clone(),
        Operand::Unknown => "?".to_owned(),
    }
}

#[track_caller]
fn check(text: &str, wanted: &str) {
    let file = parse(text);
    assert_eq!(file.problem, None, "{text}");
    assert_eq!(file.scripts.len(), 1, "{text}");
    assert_eq!(outline(&file.scripts[0]), wanted, "{text}");
}

/// One test for each script: its name, its text, and what is read.
macro_rules! scripts {
    ($($name:ident: $text:expr => $wanted:expr;)*) => {
        $(#[test] fn $name() { check($text, $wanted); })*
    };
}

scripts! {
    compare_and_delete:
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end"
        => "GET K1 -; DEL K1 =A1";
    operands_reversed:
        "if ARGV[1] == redis.call('get', KEYS[1]) then return redis.call('del', KEYS[1]) end return 0"
        => "GET K1 -; DEL K1 =A1";
    early_return:
        "local holder = redis.call('GET', KEYS[1])
         if holder ~= ARGV[1] then return 0 end
         redis.call('PUBLISH', KEYS[2], ARGV[1])
         return redis.call('DEL', KEYS[1])"
        => "GET K1 -; PUBLISH K2 -; DEL K1 =A1";
    negated_comparison:
        "if not (redis.call('GET', KEYS[1]) == ARGV[1]) then return 0 end redis.call('PEXPIRE', KEYS[1], ARGV[2])"
        => "GET K1 -; PEXPIRE K1 =A1";
    unconditional:
        "redis.call('PUBLISH', KEYS[2], ARGV[1]) return redis.call('DEL', KEYS[1])"
        => "PUBLISH K2 -; DEL K1 -";
    delete_in_the_else_branch:
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 else return redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 -";
    not_equal_with_work_in_else:
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 else return redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 =A1";
    comparison_after_the_delete:
        "redis.call('DEL', KEYS[1]) if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end"
        => "DEL K1 -; GET K1 free";
    another_key_is_compared:
        "if redis.call('GET', KEYS[2]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"
        => "GET K2 -; DEL K1 -";
    the_branch_does_not_return:
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then redis.call('INCR', KEYS[2]) end redis.call('DEL', KEYS[1])"
        => "GET K1 -; INCR K2 -; DEL K1 -";
    existence_is_no_ownership:
        "if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('DEL', KEYS[1]) end return 0"
        => "EXISTS K1 -; DEL K1 -";
    a_value_that_is_there_is_no_ownership:
        "if redis.call('GET', KEYS[1]) then return redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 -";
    a_constant_tells_no_holder:
        "if redis.call('GET', KEYS[1]) == 'locked' then return redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 -";
    either_test_opens:
        "if redis.call('GET', KEYS[1]) == ARGV[1] or ARGV[2] == 'force' then redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 -";
    the_owner_stands_in_another_record:
        "local record = cjson.decode(redis.call('HGET', KEYS[2], ARGV[1]))
         if redis.call('GET', KEYS[1]) == record['id'] then redis.call('DEL', KEYS[1]) end"
        => "HGET K2 -; GET K1 -; DEL K1 =?";
    both_tests_needed:
        "local v = redis.call('GET', KEYS[1])
         if v and v == ARGV[1] and ARGV[2] ~= '0' then redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 =A1";
    absent_or_other_returns:
        "local v = redis.call('GET', KEYS[1])
         if not v or v ~= ARGV[1] then return 0 end
         return redis.call('DEL', KEYS[1])"
        => "GET K1 -; DEL K1 =A1";
    nested_tests:
        "if redis.call('EXISTS', KEYS[1]) == 1 then
           if redis.call('GET', KEYS[1]) == ARGV[1] then
             if ARGV[2] then redis.call('DEL', KEYS[1]) end
           end
         end"
        => "EXISTS K1 -; GET K1 -; DEL K1 =A1";
    aliases:
        "local call, key, token = redis.call, KEYS[1], ARGV[1]
         if call('get', key) == token then return call('del', key) end return 0"
        => "GET K1 -; DEL K1 =A1";
    alias_of_the_table:
        "local r = server; local k = KEYS; if r.pcall('get', k[1]) == ARGV[1] then r.pcall('unlink', k[1]) end"
        => "GET K1 -; UNLINK K1 =A1";
    decoded_field:
        "local raw = redis.call('GET', KEYS[1])
         if not raw then return 0 end
         local ok, obj = pcall(cjson.decode, raw)
         if ok and obj.owner == ARGV[1] then return redis.call('DEL', KEYS[1]) end
         return 0"
        => "GET K1 -; DEL K1 =A1";
    decoded_without_pcall:
        "local obj = cjson.decode(redis.call('GET', KEYS[1]) or '{}')
         if obj['owner'] ~= ARGV[1] then return redis.error_reply('LOST') end
         redis.call('SET', KEYS[1], ARGV[2], 'XX', 'PX', 100)"
        => "GET K1 -; SET K1 =A1";
    hash_field:
        "if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then return redis.call('DEL', KEYS[1]) end"
        => "HGET K1 -; DEL K1 =A1";
    owner_is_the_field:
        "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
         local n = redis.call('hincrby', KEYS[1], ARGV[1], -1)
         if n > 0 then redis.call('pexpire', KEYS[1], ARGV[2]) return 0 end
         redis.call('del', KEYS[1]) return 1"
        => "HEXISTS K1 -; HINCRBY K1 =A1; PEXPIRE K1 =A1; DEL K1 =A1";
    a_count_is_true_even_when_zero:
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) then redis.call('DEL', KEYS[1]) end"
        => "HEXISTS K1 -; DEL K1 -";
    reentrant_acquire:
        "if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
           redis.call('hincrby', KEYS[1], ARGV[2], 1) redis.call('pexpire', KEYS[1], ARGV[1]) return nil
         end
         return redis.call('pttl', KEYS[1])"
        => "EXISTS K1 -; HEXISTS K1 -; HINCRBY K1 =A2; PEXPIRE K1 =A2; PTTL K1 -";
    acquire_when_absent:
        "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) redis.call('PEXPIRE', KEYS[1], ARGV[2]) end"
        => "EXISTS K1 -; SET K1 free; PEXPIRE K1 =A1";
    set_nx_then_expire:
        "if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) return 1 end return 0"
        => "SETNX K1 -; EXPIRE K1 =A1";
    expire_for_the_loser_too:
        "local won = redis.call('SETNX', KEYS[1], ARGV[1]) redis.call('EXPIRE', KEYS[1], ARGV[2]) return won"
        => "SETNX K1 -; EXPIRE K1 -";
    set_with_nx:
        "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end"
        => "SET K1 -; INCR K2 -";
    own_function_tests:
        "local function owned() return redis.call('get', KEYS[1]) == ARGV[1] end
         if owned() then return redis.call('del', KEYS[1]) end return 0"
        => "GET K1 -; DEL K1 =A1";
    own_function_takes_the_key:
        "local function free(key, token)
           if redis.call('get', key) ~= token then return 0 end
           return redis.call('del', key)
         end
         return free(KEYS[1], ARGV[1])"
        => "GET K1 -; DEL K1 =A1";
    own_function_raises:
        "local function must_hold() if redis.call('get', KEYS[1]) ~= ARGV[1] then error('lost') end end
         must_hold()
         redis.call('del', KEYS[1])"
        => "GET K1 -; DEL K1 =A1";
    flag_set_in_a_branch:
        "local mine = false
         if redis.call('GET', KEYS[1]) == ARGV[1] then mine = true end
         if mine then redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 =A1";
    flag_that_is_always_set:
        "local mine = true
         if redis.call('GET', KEYS[1]) == ARGV[1] then mine = true end
         if mine then redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 -";
    and_or_idiom:
        "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"
        => "GET K1 -; DEL K1 =A1";
    key_put_together:
        "local k = KEYS[1] .. ':lock'
         if redis.call('GET', KEYS[1] .. ':lock') == tostring(ARGV[1]) then redis.call('DEL', k) end"
        => "GET K1..':lock' -; DEL K1..':lock' =A1";
    loop_over_keys:
        "for i = 1, #KEYS do if redis.call('GET', KEYS[i]) == ARGV[1] then redis.call('DEL', KEYS[i]) end end"
        => "GET KEYS[i] -; DEL KEYS[i] =A1";
    loop_with_ipairs:
        "local n = 0
         for i, key in ipairs(KEYS) do
           if redis.call('GET', key) == ARGV[i] then n = n + redis.call('DEL', key) end
         end return n"
        => "GET KEYS[i] -; DEL KEYS[i] =ARGV[i]";
    loop_may_not_run:
        "for i = 1, tonumber(ARGV[2]) do if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end end
         redis.call('DEL', KEYS[1])"
        => "GET K1 -; DEL K1 -";
    value_reassigned_before_the_test:
        "local v = redis.call('GET', KEYS[1]) v = ARGV[1] if v == ARGV[1] then redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 -";
    several_keys_at_once:
        "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1], KEYS[2]) end"
        => "GET K1 -; DEL K1 =A1; DEL K2 -";
    write_takes_the_key:
        "local id = redis.call('RPOP', KEYS[1])
         if not id then return nil end
         local k = KEYS[2] .. id
         redis.call('SET', k, ARGV[1]) redis.call('EXPIRE', k, ARGV[2]) return id"
        => "RPOP K1 -; SET K2..id -; EXPIRE K2..id =A1";
    elseif_branches:
        "local v = redis.call('GET', KEYS[1])
         if v == false then return -1
         elseif v == ARGV[1] then return redis.call('DEL', KEYS[1])
         else redis.call('UNLINK', KEYS[1]) end"
        => "GET K1 -; DEL K1 =A1; UNLINK K1 -";
    prefix_of_the_value:
        "local v = redis.call('GET', KEYS[1])
         if v and string.match(v, '^[^|]+') == ARGV[1] then redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 =A1";
    find_in_the_value:
        "local v = redis.call('GET', KEYS[1])
         if v and v:find(ARGV[1], 1, true) == 1 then redis.call('DEL', KEYS[1]) end"
        => "GET K1 -; DEL K1 =A1";
    constants_for_names:
        "local GET, DEL = 'GET', 'DEL'
         local function run(name, ...) return redis.call(name, KEYS[1]) end
         if run(GET) == ARGV[1] then run(DEL) end"
        => "GET K1 -; DEL K1 =A1";
    assertion:
        "assert(redis.call('GET', KEYS[1]) == ARGV[1], 'not the holder') return redis.call('DEL', KEYS[1])"
        => "GET K1 -; DEL K1 =A1";
    semaphore_member:
        "if redis.call('ZSCORE', KEYS[1], ARGV[1]) then redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) end"
        => "ZSCORE K1 -; ZADD K1 =A1";
    keys_collected_in_a_table:
        "local found = {}
         for i, key in ipairs(KEYS) do if redis.call('GET', key) == ARGV[1] then table.insert(found, key) end end
         return redis.call('DEL', unpack(found))"
        => "GET KEYS[i] -; DEL ? -";
    deletion_of_all_keys:
        "return redis.call('DEL', unpack(KEYS))"
        => "DEL KEYS[*] -";
    recursion_ends:
        "local function f() f() f() redis.call('DEL', KEYS[1]) end f()"
        => "DEL K1 -; DEL K1 free";
    nothing_at_all: "-- only a comment" => "";
}

#[test]
fn function_libraries_give_a_script_for_each_function() {
    let file = parse(
        "#!lua name=gate
         local prefix = 'gate:'
         local function take(keys, args)
           return redis.call('SET', keys[1], args[1], 'NX', 'PX', args[2])
         end
         local function free(ks, as)
           if redis.call('GET', ks[1]) == as[1] then return redis.call('DEL', ks[1]) end
           return 0
         end
         redis.register_function('take', take)
         redis.register_function{ function_name = 'free', callback = free, flags = {} }
         redis.register_function('drop', function(keys) return redis.call('DEL', prefix .. keys[1]) end)",
    );
    assert_eq!(file.problem, None);
    let read: Vec<_> =
        file.scripts.iter().map(|s| (s.function.as_deref().unwrap_or(""), outline(s))).collect();
    assert_eq!(
        read,
        [
            ("take", "SET K1 -".to_owned()),
            ("free", "GET K1 -; DEL K1 =A1".to_owned()),
            ("drop", "DEL 'gate:'..K1 -".to_owned()),
        ]
    );
}

#[test]
fn spans_are_the_calls_and_the_comparison() {
    let text = "#!lua é\nif redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end";
    let file = parse(text);
    let slice = |span: crate::facts::Span| &text[span.start as usize..span.end as usize];
    let [_, delete]: &[Command] = &file.scripts[0].commands else { panic!("two commands") };
    assert_eq!(slice(delete.span), "redis.call('DEL', KEYS[1])");
    let guard = delete.guard.as_ref().expect("a guard");
    assert_eq!(slice(guard.span), "redis.call('GET', KEYS[1]) == ARGV[1]");
}

#[test]
fn a_broken_script_keeps_what_came_before() {
    let file = parse("redis.call('DEL', KEYS[1])\nif then");
    let (span, message) = file.problem.expect("a problem");
    assert!(span.start >= 27, "{span:?} {message}");
    assert_eq!(outline(&file.scripts[0]), "DEL K1 -");
}

#[test]
fn a_guard_that_cannot_be_read_hides_what_it_guards() {
    let file = parse("if redis.call('GET', KEYS[1]) = ARGV[1] then redis.call('DEL', KEYS[1]) end");
    assert!(file.problem.is_some());
    assert_eq!(file.scripts[0].commands, []);
}

#[test]
fn any_input_ends_without_a_panic() {
    let nested = |open: &str, close: &str, n: usize| format!("x = {}1{}", open.repeat(n), close.repeat(n));
    let mut texts: Vec<String> = [
        "",
        "'",
        "\"a\nb\"",
        "[[",
        "[==[ ]=]",
        "--[[",
        "end",
        ")",
        "if",
        "local",
        "x =",
        "\u{0}",
        "é = 'ü' .. '",
        "#!",
        "#!lua",
        "return return",
        "KEYS[1",
        "redis.call(",
        "::",
        "goto x",
        "x = = 1",
        "\r\n'\r\n",
        "1e999999",
        "redis.call('DEL', KEYS[99999999999])",
        "a.b.c:d'e'{}",
        "function f(...) return ... end f()",
    ]
    .map(str::to_owned)
    .to_vec();
    for n in [150, 100_000] {
        texts.push(nested("(", ")", n));
        texts.push(nested("{", "}", n));
        texts.push(nested("f(", ")", n));
        texts.push(nested("function() return ", " end", n));
        texts.push(nested("not ", "", n));
        texts.push("if x then ".repeat(n));
        texts.push(format!("x = {}1", "1 .. ".repeat(n)));
        texts.push(format!("x = a{}", ".b[1]()".repeat(n)));
    }
    let script = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end";
    texts.extend((0..script.len()).map(|end| script[..end].to_owned()));
    for text in texts {
        parse(&text);
    }
}

#[test]
fn hostile_scripts_end_soon() {
    let doubling: String =
        (0..30).map(|n| format!("local function f{} () f{n}() f{n}() end\n", n + 1)).collect();
    let branches = "if ARGV[1] then a = 1 else b = 2 end\n".repeat(20_000);
    let writes: String = (0..20_000).map(|n| format!("redis.call('SET', 'k{n}', ARGV[1])\n")).collect();
    for text in [format!("local function f0() end\n{doubling} f30()"), branches, writes] {
        parse(&text);
    }
}
