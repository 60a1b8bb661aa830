import { readFileSync } from 'node:fs'

/** Reads the statements of an SQL file, which empty lines separate. Its comments are left out. */
export function readStatements(file: URL): readonly string[] {
  const statements = readFileSync(file, 'utf8').split('\n\n')
  return statements.map(withoutComments).filter((statement) => statement !== '')
}

function withoutComments(statement: string): string {
  const lines = statement.split('\n').filter((line) => !line.trimStart().startsWith('--'))
  return lines.join('\n').trim()
}
