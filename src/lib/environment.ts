import { readFileSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Puts in what files hold that the environment names: an environment is seen by whoever may look at a
 * container, a mounted file is not.
 *
 * @param problems takes one sentence for each that cannot be.
 */
export function readSecretFiles(environment: Environment, problems: string[]): Environment {
  const { DATABASE_URL_FILE: file, DATABASE_URL: url } = environment
  if (!file) return environment
  if (url) problems.push('DATABASE_URL_FILE: must be empty where DATABASE_URL is set')
  try {
    return { ...environment, DATABASE_URL: readFileSync(file, 'utf8').trim() }
  } catch (error) {
    problems.push(`DATABASE_URL_FILE: ${error instanceof Error ? error.message : String(error)}`)
    return environment
  }
}
