import { after } from 'node:test'

/** The services that the test files of this process share, in the order of their starts. */
const running: { close: () => Promise<void> }[] = []

let isArea = false

/**
 * Returns a function that starts a service for its first caller and returns the same one to later
 * callers. A file that calls it registers `after(closeSharedServices)`, and assumes no empty database.
 */
export function shareService<T extends AsyncDisposable>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => {
    if (started) return started
    const service = start()
    started = service
    running.push({
      close: async () => {
        started = undefined
        await (await service)[Symbol.asyncDispose]()
      },
    })
    return service
  }
}

/** Closes the shared services at the end of a test file, unless later files of an area use them. */
export async function closeSharedServices(): Promise<void> {
  if (!isArea) await closeAll()
}

/** Keeps the shared services until the last test file of this process has ended. */
export function shareAmongFiles(): void {
  isArea = true
  after(closeAll)
}

async function closeAll(): Promise<void> {
  for (const service of running.splice(0).toReversed()) await service.close()
}
