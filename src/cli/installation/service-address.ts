import type { Config } from '../../config.ts'
import { detailOf, reasonOf } from '../import/enroll-sender.ts'

type ListenSettings = Pick<Config, 'HOST' | 'PORT'>

/** The address of the service for programs on this machine. */
export function localAddress({ HOST, PORT }: ListenSettings): string {
  if (HOST === '0.0.0.0' || HOST === '::') return `http://localhost:${PORT}`
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`
}

/** The address of the service for the links of the console. */
export function publicAddress(config: ListenSettings & Pick<Config, 'PUBLIC_URL'>): string {
  return config.PUBLIC_URL || localAddress(config)
}

const answerMsMax = 5000

/** Returns the status of a response, and its reason; the status is null if there is no response. */
export async function requestStatus(url: string) {
  try {
    const signal = AbortSignal.timeout(answerMsMax)
    const response = await fetch(url, { signal, redirect: 'manual' })
    const { status } = response
    return { status, detail: `HTTP ${status} ${detailOf(await response.text())}`.trim() }
  } catch (error) {
    return { status: null, detail: reasonOf(error) }
  }
}
