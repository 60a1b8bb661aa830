/** A warning or an error of the log, without text that a caller could have chosen. */
export type RecentProblem = NonNullable<ReturnType<typeof toProblem>>

export type RecentProblems = ReturnType<typeof createRecentProblems>

/** The number of problems that a process keeps in memory. */
export const recentProblemsMax = 200

const framesMax = 12

const problemPattern = /^\{"level":"(?:warn|error|fatal)"/u

/** Creates a list of bounded length, which drops its oldest problems. */
export function createRecentProblems() {
  const problems: RecentProblem[] = []
  return {
    /** Adds a line of the log if it is a warning or an error. */
    addLine: (line: string): void => {
      if (!problemPattern.test(line)) return
      const problem = toProblem(line)
      if (!problem) return
      problems.push(problem)
      if (problems.length > recentProblemsMax) problems.shift()
    },
    /** The problems, the oldest first. */
    list: (): readonly RecentProblem[] => [...problems],
  }
}

function toProblem(line: string) {
  const fields = parseObject(line)
  if (!fields) return undefined
  const { level, time, msg, err, ...rest } = fields
  const error = toError(err)
  return {
    time: String(time),
    level: String(level),
    /** The message: a constant of the program. */
    message: redactText(textOf(msg)),
    /** The numbers and switches of the line. */
    values: Object.fromEntries(Object.entries(rest).filter(isPlainValue)),
    ...(error && { error }),
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isPlainValue(entry: [string, unknown]): entry is [string, number | boolean] {
  return typeof entry[1] === 'number' || typeof entry[1] === 'boolean'
}

/** Messages of errors can repeat input, such as a row that breaks a constraint. */
function toError(err: unknown) {
  if (typeof err !== 'object' || err === null) return undefined
  const { type, code, stack, message } = err as Readonly<Record<string, unknown>>
  return {
    type: identifierOf(type) ?? 'Error',
    ...(identifierOf(code) !== undefined && { code: identifierOf(code) ?? '' }),
    /** Functions and places in the program; never the message of the error. */
    frames: framesOf(textOf(stack), textOf(message)),
  }
}

/** Returns a name such as `TypeError` or `ECONNREFUSED`. */
function identifierOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^\w{1,40}$/u.test(value) ? value : undefined
}

/** A function, and a file of the program or of Node with its line and column. */
const framePattern =
  /^\s+at (?<name>(?:async )?[\w$.<>#[\] ]{0,80}?)\s?\(?(?:file:\/\/)?(?<file>\/[^()]*|node:[\w/]+):(?<at>\d+:\d+)\)?$/u

function framesOf(stack: string, message: string): readonly string[] {
  const lines = stack.replace(message, '').split('\n')
  return lines.flatMap((line) => frameOf(line) ?? []).slice(0, framesMax)
}

/** Paths begin at the folder `src` or `node_modules`, so that no name of a home folder remains. */
function frameOf(line: string): string | undefined {
  const { name = '', file = '', at = '' } = framePattern.exec(line)?.groups ?? {}
  if (file === '') return undefined
  const part = /(?:^|\/)(?<part>(?:src|node_modules|test)\/.*)$/u.exec(file)?.groups?.['part']
  const place = file.startsWith('node:') ? file : (part ?? 'outside the program')
  return `${name} ${place}:${at}`.trim()
}

const removed = '[removed]'

/** What looks like a secret, the most specific first. */
const secretPatterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // A URL with a user name or a password, and the query of any URL.
  [/\b(?<scheme>[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@[^\s"']*/giu, `$<scheme>${removed}`],
  [/(?<url>\bhttps?:\/\/[^\s"'?]*)\?[^\s"']*/giu, `$<url>?${removed}`],
  // API keys and signing secrets.
  [/\b(?:fsk_[a-z]+_|whsec_)[\w+/=-]+/gu, removed],
  [/\bBearer\s+\S+/giu, `Bearer ${removed}`],
  [
    /\b(?<name>password|passwd|pwd|secret|token|api[-_ ]?key)(?<sign>\s*[=:]\s*)\S+/giu,
    `$<name>$<sign>${removed}`,
  ],
  // Session tokens, links and master keys are random bytes in base64.
  [/[A-Za-z0-9+/_-]{32,}={0,2}/gu, removed],
  [/[\w.+-]+@[\w-]+\.[\w.-]+/gu, removed],
]

/** Returns a text in which everything that looks like a secret or an email address is replaced. */
function redactText(text: string): string {
  return secretPatterns.reduce(
    (redacted, [pattern, replacement]) => redacted.replaceAll(pattern, replacement),
    text,
  )
}
