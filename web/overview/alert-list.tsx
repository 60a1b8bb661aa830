import { Alert, Anchor, Button, Stack } from '@mantine/core'
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { OverviewAlert } from '../api/responses.ts'

const severityColors = {
  info: 'var(--fg-ok)',
  warning: 'var(--fg-warn)',
  critical: 'var(--fg-bad)',
} as const

const alertsShown = 2

/**
 * The alerts of the server and of the selected projects, in the order of the server: most severe first.
 * All but the first two are folded.
 */
export function AlertList({ alerts }: { readonly alerts: readonly OverviewAlert[] }) {
  const [isOpen, setIsOpen] = useState(false)
  if (alerts.length === 0) return null
  const folded = alerts.length - alertsShown
  return (
    <Stack gap="xs" component="section" aria-label="Alerts">
      {(isOpen ? alerts : alerts.slice(0, alertsShown)).map((alert) => (
        <Alert
          key={`${alert.kind} ${alert.projectId} ${alert.keyId} ${alert.text}`}
          variant="default"
          py="xs"
          role="note"
          icon={
            alert.severity === 'info' ? (
              <IconInfoCircle size={18} color={severityColors.info} aria-hidden />
            ) : (
              <IconAlertTriangle size={18} color={severityColors[alert.severity]} aria-hidden />
            )
          }
        >
          {alert.text} <AlertLink alert={alert} />
        </Alert>
      ))}
      {folded > 0 && (
        <Button
          size="compact-sm"
          variant="default"
          aria-expanded={isOpen}
          style={{ alignSelf: 'start' }}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen
            ? 'Show fewer alerts'
            : `Show ${folded} more ${folded === 1 ? 'alert' : 'alerts'}`}
        </Button>
      )}
    </Stack>
  )
}

function AlertLink({ alert: { kind, projectId } }: { readonly alert: OverviewAlert }) {
  const { to, label } = alertLinkOf(kind)
  return (
    <Anchor
      size="sm"
      underline="always"
      renderRoot={(props) => (
        <Link {...props} to={to} search={(old) => ({ ...old, ...(projectId && { projectId }) })} />
      )}
    >
      {label}
    </Anchor>
  )
}

function alertLinkOf(kind: string) {
  if (kind.startsWith('key')) return { to: '/keys', label: 'View API keys' } as const
  if (kind.startsWith('budget')) return { to: '/money', label: 'View budget' } as const
  if (kind.startsWith('camera')) return { to: '/analytics', label: 'View cameras' } as const
  if (kind.startsWith('webhook')) return { to: '/webhooks', label: 'View webhooks' } as const
  return { to: '/system', label: 'View system' } as const
}
