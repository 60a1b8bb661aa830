import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { canReachServer } from '../api/api.ts'
import { reportReachable, useConnection } from '../api/connection.ts'
import { reconnectMs } from '../api/when-reachable.ts'
import './connection-banner.css'

/** States that the server cannot be reached, and fetches all visible data when it can be again. */
export function ConnectionBanner() {
  const connection = useConnection()
  const client = useQueryClient()
  useEffect(() => {
    if (connection !== 'unreachable') return undefined
    const check = async (): Promise<void> => {
      if (document.hidden || !(await canReachServer())) return
      reportReachable(true)
      await client.invalidateQueries()
    }
    const timer = setInterval(() => void check(), reconnectMs)
    return () => clearInterval(timer)
  }, [connection, client])
  if (connection === 'connected') return null
  return (
    <output className="fg-connection">
      <strong>
        {connection === 'offline' ? 'You are offline.' : 'The server cannot be reached.'}
      </strong>{' '}
      Pages show their last data, and changes are not sent.{' '}
      {connection === 'offline'
        ? 'The console continues when the browser is online.'
        : `The console tries again every ${reconnectMs / 1000} seconds.`}
    </output>
  )
}
