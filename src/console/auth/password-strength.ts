import type { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { invalidField } from '../server/input.ts'

/** The fewest guesses, as a power of ten, that an attacker with a list of passwords may need. */
const guessesLog10Min = 8
/** Of a longer password, its start is estimated: 256 characters would take 0.5 s of processor time. */
const estimatedCharsMax = 40
/** A name, or a part of it, of fewer characters occurs in too many good passwords. */
const comparedNameCharsMin = 3

let estimator: Promise<ZxcvbnFactory> | undefined

/** Loads the list of common passwords at its first use: it takes about 15 MB of memory. */
async function loadEstimator(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: estimatedCharsMax })
}

/**
 * Requires a password that does not contain the user's name or a part of it, and that needs at least 10⁸ guesses by
 * the estimate of zxcvbn: common passwords, keyboard rows, sequences, repetitions and dates, also with
 * replaced letters.
 *
 * @param path the field in the request body.
 * @throws ValidationError with the rule.
 */
export async function requireStrongPassword(
  password: string,
  { userName, path }: { readonly userName: string; readonly path: string },
): Promise<void> {
  const name = withoutAccents(userName)
  const parts = [name, ...name.split(/[^\p{L}\p{N}]+/u)]
  const compared = withoutAccents(password)
  if (parts.some((part) => part.length >= comparedNameCharsMin && compared.includes(part)))
    throw invalidField(path, 'must not contain your name or a part of it')
  estimator ??= loadEstimator()
  const { guessesLog10 } = (await estimator).check(password, [...parts, 'facegate'])
  if (guessesLog10 >= guessesLog10Min) return
  const message =
    'must not be a common password, a sequence or a repetition. Use several unrelated words.'
  throw invalidField(path, message)
}

/** Returns text in lower case in which ü and u are the same letter. */
function withoutAccents(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
}
