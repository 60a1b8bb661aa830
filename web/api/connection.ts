import { useSyncExternalStore } from 'react'

/** Whether requests can reach the server. */
export type ConnectionState = 'connected' | 'offline' | 'unreachable'

let isReachable = true
const listeners = new Set<() => void>()

/** Records whether the last request reached the server. */
export function reportReachable(reached: boolean): void {
  if (reached === isReachable) return
  isReachable = reached
  for (const listener of listeners) listener()
}

/** Returns the state of the connection, and renders again when it changes. */
export function useConnection(): ConnectionState {
  return useSyncExternalStore(subscribe, readState)
}

function readState(): ConnectionState {
  if (!navigator.onLine) return 'offline'
  return isReachable ? 'connected' : 'unreachable'
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}
