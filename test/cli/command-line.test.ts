import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import type { CliCommand } from '../../src/cli/command.ts'
import { findCommand, readValues } from '../../src/cli/command-line/read-values.ts'
import type { HelpTexts } from '../../src/cli/command-line/define-command.ts'
import { formatHelp } from '../../src/cli/command-line/format-help.ts'
import helpTexts from '../../src/cli/command-line/help-texts.json' with { type: 'json' }
import { commands } from '../../src/cli/commands.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { rootDir } from '../support/paths.ts'
import packageJson from '../../package.json' with { type: 'json' }

let dataDir: string
before(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-cli-'))
})
after(() => rm(dataDir, { recursive: true }))

const run = (...args: string[]) => runCli(args, { DATA_DIR: dataDir })

type DeclaredCommand = { readonly command: CliCommand; readonly path: readonly string[] }

function allCommands(of = commands, parent: readonly string[] = []): DeclaredCommand[] {
  return of.flatMap((command) => {
    const names = [...parent, command.name]
    return [{ command, path: names }, ...allCommands(command.commands, names)]
  })
}

test('the help of every command has its form, its options and an example that is valid', async () => {
  for (const { command, path: names } of allCommands()) {
    const help = formatHelp(command, names)
    assert.match(help, new RegExp(`^facegate ${names.join(' ')}: .+?\\n\\nUsage:\\n`, 'su'))
    for (const option of Object.keys(command.options)) assert.ok(help.includes(`--${option}`), help)
    const tooWide = help.split('\n').filter((line) => line.length > 96)
    assert.deepEqual(tooWide, [], names.join(' '))
    if (command.commands.length > 0) continue
    const { examples } = command
    assert.ok(examples.length > 0, `${names.join(' ')} has no example`)
    for (const example of examples) await assertValid(example)
  }
})

test('every value of a command is explained, and no text explains a value that does not exist', () => {
  for (const { command, path: names } of allCommands()) {
    const texts: HelpTexts = helpTexts[names.join(' ') as keyof typeof helpTexts]
    for (const kind of ['options', 'arguments'] as const) {
      for (const [name, { summary }] of Object.entries(command[kind]))
        assert.notEqual(summary, '', `${names.join(' ')} ${name}`)
      for (const name of Object.keys(texts[kind] ?? {})) assert.ok(name in command[kind], name)
    }
  }
  assert.equal(allCommands().length, Object.keys(helpTexts).length)
})

/** Settings before the command are not a part of it. */
async function assertValid(example: string): Promise<void> {
  const line = /(?:^|[\s(])facegate (?<line>[^)]*)/u.exec(example)?.groups?.['line'] ?? ''
  const found = findCommand(commands, line.split(' '))
  assert.ok(found.command, example)
  await assert.doesNotReject(readValues(found.rest, found.command), example)
}

test('help and the version are printed in every spelling, with exit code 0', async () => {
  const spellings: readonly (readonly [args: readonly string[], output: RegExp])[] = [
    [['--help'], /^facegate \S+: .*\n\nUsage:\n {2}facegate <command>/u],
    [['-h'], /\n {2}import {10}enroll a folder/u],
    [['key', '-h'], /^facegate key: .*\n {2}rotate-master {2}/su],
    [['key', 'help'], /Run facegate key <command> --help/u],
    [['key', 'create', '--project', 'x', '-h'], /^facegate key create: .*\nExamples:\n/su],
    [['help', 'project', 'set'], /--sustained <n> +average calls per second \(a whole number/u],
    [['--version'], new RegExp(`^facegate ${packageJson.version}\\n$`, 'u')],
    [['-v'], /^facegate \d/u],
  ]
  const results = await Promise.all(spellings.map(([args]) => run(...args)))
  for (const [index, { code, out, err }] of results.entries()) {
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, spellings[index]?.[1] ?? /./u)
  }
})

test('a mistyped command, option or value is answered in one line with the nearest name', async () => {
  const mistakes: readonly (readonly [line: string, message: string])[] = [
    ['improt x', 'improt is not a command of facegate; did you mean import? See facegate --help'],
    [
      'project lst',
      'lst is not a command of facegate project; did you mean list? See facegate project --help',
    ],
    [
      'key create --porject x',
      '--porject is not an option of this command; did you mean --project? See facegate key create --help',
    ],
    [
      'key create --perm x',
      '--perm is not an option of this command; did you mean --permissions? See facegate key create --help',
    ],
    [
      'key',
      'key needs one of its commands: create, list, rotate, revoke, routes, create-master, rotate-master, add-master; see facegate key --help',
    ],
    [
      'log --code NO_FACE_FOUNDS',
      '--code: NO_FACE_FOUNDS is not valid; did you mean NO_FACE_FOUND? See facegate log --help',
    ],
    ['backup --to', '--to has no value; pass --to <file>; see facegate backup --help'],
    [
      'backup --to a b',
      'b is not expected: this command takes options only; see facegate backup --help',
    ],
    ['--colour', '--colour is not a command of facegate; see facegate --help'],
  ]
  const results = await Promise.all(mistakes.map(([line]) => run(...line.split(' '))))
  for (const [index, { code, out, err }] of results.entries())
    assert.deepEqual([code, out, err], [2, '', `facegate: ${mistakes[index]?.[1]}\n`])
  const nothing = await run()
  assert.deepEqual([nothing.code, nothing.err], [2, ''])
})

test('messages name files and folders by their absolute path', async () => {
  const relative = path.relative('.', dataDir)
  const [show, restore] = await Promise.all([
    runCli(['wallet', 'show'], { DATA_DIR: relative }),
    run('restore', '--from', 'none.db', '--deletions', 'none'),
  ])
  const noDatabase = `facegate: there is no database in ${dataDir}; start the service once\n`
  assert.deepEqual([show.code, show.err], [1, noDatabase])
  assert.equal(restore.err, `facegate: there is no copy ${path.resolve('none.db')}\n`)
})

test('help and invalid command lines load neither packages nor the service', () => {
  const hook = path.join(import.meta.dirname, '../support/cli/list-modules.ts')
  const modulesOf = (...args: string[]): string[] => {
    const main = path.join(rootDir, 'src/cli/main.ts')
    // A pipe can be full when the process exits; a file takes the whole list.
    const file = path.join(dataDir, 'modules.txt')
    const output = openSync(file, 'w')
    spawnSync(process.execPath, ['--import', hook, main, ...args], {
      env: { ...process.env, DATA_DIR: dataDir },
      stdio: ['ignore', 'ignore', output],
    })
    closeSync(output)
    return [...readFileSync(file, 'utf8').matchAll(/^module (\S+)$/gmu)].map(([, url = '']) => url)
  }
  for (const line of ['--help', 'calibrate --help', 'models use', 'evaluate liveness --ou x']) {
    const modules = modulesOf(...line.split(' '))
    assert.ok(modules.some((url) => url.endsWith('/src/cli/main.ts')))
    const heavy = modules.filter(
      (url) => url.includes('/node_modules/') || /\/src\/(?!cli\/|lib\/)/u.test(url),
    )
    assert.deepEqual(heavy, [], line)
    const others = modules.filter((url) => !url.endsWith('/commands.ts'))
    assert.ok(others.length < 33, `${line} loads ${others.length} modules without its commands`)
  }
  const needed = modulesOf('key', 'list')
  assert.ok(
    needed.some((url) => url.includes('/node_modules/zod/')),
    'the settings are read',
  )
  assert.ok(!needed.some((url) => /node_modules\/(?:pg|sharp|fastify|onnxruntime)/u.test(url)))
})

test('bin/facegate.js runs the command line, passes the exit code and caches compiled code', () => {
  const cacheFolder = path.join(dataDir, 'cache')
  const { NODE_COMPILE_CACHE: _cache, ...inherited } = process.env
  const env = { ...inherited, XDG_CACHE_HOME: cacheFolder, DATA_DIR: dataDir }
  const bin = path.join(rootDir, 'bin/facegate.js')
  const { status, stderr } = spawnSync(process.execPath, [bin, 'ky'], { env, encoding: 'utf8' })
  assert.equal(status, 2, stderr)
  assert.match(stderr, /did you mean key\?/u)
  assert.ok(existsSync(path.join(cacheFolder, 'facegate/compile-cache')))
})

/** Returns the reason to skip a test of a shell that is not installed. */
function skipWithout(shell: string): string | false {
  return spawnSync(shell, ['--version']).error ? `${shell} is not installed` : false
}

const completions: readonly (readonly [words: readonly string[], completed: readonly string[]])[] =
  [
    [['mod'], ['models']],
    [
      ['project', ''],
      ['create', 'delete', 'list', 'set', 'show'],
    ],
    [['key', 'create', '--pe'], ['--permissions']],
    [
      ['price', 'set', 'svc.de'],
      ['svc.deleteSubject', 'svc.detect'],
    ],
    [['log', '--code', 'NO_F'], ['NO_FACE_FOUND']],
    [
      ['import', 'x', '--face-policy', ''],
      ['largest', 'single', 'strict'],
    ],
    [
      ['project', 'set', 'x', '--gender', 'o'],
      ['off', 'on'],
    ],
    [['key', 'create', '--name', ''], []],
    [['backup', '--to', 'package-l'], ['package-lock.json']],
  ]

test('bash completes commands, options, values and files', async () => {
  const { out: script } = await run('completion', 'bash')
  const lines = completions.map(([words]) => {
    const quoted = ['facegate', ...words].map((word) => `'${word}'`).join(' ')
    return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; COMPREPLY=(); _facegate; echo "\${COMPREPLY[*]}"`
  })
  const listed = [
    `COMP_WORDS=(facegate key create --permissions = 'svc.detect,subj'); COMP_CWORD=5; COMPREPLY=(); _facegate; echo "\${COMPREPLY[*]}"`,
    'complete -p facegate',
  ]
  const source = [script, ...lines, ...listed].join('\n')
  const out = execFileSync('bash', ['--norc', '-c', source], { cwd: rootDir, encoding: 'utf8' })
  const printed = out.trimEnd().split('\n')
  const expected = completions.map(([, completed]) => completed.join(' '))
  const sorted = printed
    .slice(0, expected.length)
    .map((line) => line.split(' ').toSorted().join(' '))
  assert.deepEqual(sorted, expected)
  assert.match(printed[expected.length] ?? '', /^svc\.detect,subjects:read/u)
  assert.equal(printed.at(-1), 'complete -F _facegate facegate')
})

test('zsh completes commands, options and values', { skip: skipWithout('zsh') }, async () => {
  const { out: script } = await run('completion', 'zsh')
  // The functions of compinit print what they receive.
  const stubs = `
compdef() { :; }
_describe() { print -l -- \${(P)\${@[-1]}%%:*}; }
_files() { print files; }
compset() { :; }
compadd() { while [[ "$1" != -- ]]; do shift; done; shift; print -l -- "$@"; }`
  const lines = completions.map(([words]) => {
    const quoted = ['facegate', ...words].map((word) => `'${word}'`).join(' ')
    return `words=(${quoted}); CURRENT=${words.length + 1}; _facegate; print -- ---`
  })
  const out = execFileSync('zsh', ['-f', '-c', [stubs, script, ...lines].join('\n')], {
    encoding: 'utf8',
  })
  const groups = out.split('---\n').slice(0, -1)
  for (const [index, [words, completed]] of completions.entries()) {
    const offered = (groups[index] ?? '').trim().split('\n')
    const isFile = words.includes('--to')
    for (const text of isFile ? ['files'] : completed)
      assert.ok(offered.includes(text), `${words.join(' ')}: ${offered.join(' ')}`)
    if (completed.length === 0) assert.deepEqual(offered, [''])
  }
})

test(
  'fish completes commands, options, values and files',
  { skip: skipWithout('fish') },
  async () => {
    const { out: script } = await run('completion', 'fish')
    const lines = completions.map(
      ([words]) => `complete -C 'facegate ${words.join(' ')}'; echo ---`,
    )
    const out = execFileSync('fish', ['--no-config', '-c', [script, ...lines].join('\n')], {
      cwd: rootDir,
      env: { ...process.env, HOME: dataDir },
      encoding: 'utf8',
    })
    const groups = out.split('---\n').slice(0, -1)
    const offered = groups.map((group) =>
      group
        .split('\n')
        .map((line) => line.split('\t')[0] ?? '')
        .filter(Boolean)
        .toSorted(),
    )
    assert.deepEqual(
      offered,
      completions.map(([, completed]) => [...completed]),
    )
  },
)
