import { readFileSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Replaces `DATABASE_URL_FILE` by the content of the file it names. Environment variables are visible
 * to everyone with permission to inspect the container; a mounted file is not.
 *
 * @param problems receives one sentence for each error.
 */
export function readSecretFiles(environment: Environment, problems: string[]): Environment {
  const { DATABASE_URL_FILE: file, DATABASE_URL: url } = environment
  if (!file) return environment
  if (url) problems.push('DATABASE_URL_FILE: must be empty if DATABASE_URL is set')
  try {
    const content = readFileSync(file, 'utf8').trim()
    // An empty DATABASE_URL means SQLite, and a server would start with an empty database.
    if (content === '')
      problems.push(`DATABASE_URL_FILE: ${file} is empty, must contain postgres://…`)
    return { ...environment, DATABASE_URL: content }
  } catch (error) {
    problems.push(`DATABASE_URL_FILE: ${error instanceof Error ? error.message : String(error)}`)
    return environment
  }
}
