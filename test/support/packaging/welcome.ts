import type { ChildProcess } from 'node:child_process'

/** What the first start prints. */
export type Welcome = {
  readonly url: string
  readonly key: string
  /** The example of a call, for a shell. */
  readonly command: string
}

/** Reads the output of a first start until it is complete. */
export async function waitForWelcome(server: ChildProcess): Promise<Welcome> {
  let output = ''
  for await (const chunk of server.stdout?.setEncoding('utf8').iterator({
    destroyOnReturn: false,
  }) ?? []) {
    output += String(chunk)
    if (!output.includes('Documentation:')) continue
    const url = /Facegate is running at ([^\s,]+)/u.exec(output)?.[1]
    const key = /fsk_live_\S+/u.exec(output)?.[0]
    const command = /^ {2}printf [\s\S]*?--data-binary @-$/mu.exec(output)?.[0]
    if (url && key && command) return { url, key, command }
  }
  throw new Error(`the server did not start: ${output}`)
}
