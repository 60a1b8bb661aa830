import { Box, Stack } from '@mantine/core'
import {
  IconActivity,
  IconArrowsLeftRight,
  IconBook2,
  IconBooks,
  IconBroadcast,
  IconChartHistogram,
  IconCpu,
  IconCoins,
  IconFlask,
  IconFolders,
  IconHeartbeat,
  IconKey,
  IconListDetails,
  IconReceipt,
  IconStethoscope,
  IconTags,
  IconTrash,
  IconUserShield,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'

/** The pages of each section, in the order in which a new user needs them. */
export const sections = [
  {
    name: 'Monitoring',
    links: [
      { to: '/', text: 'Overview', Icon: IconActivity },
      { to: '/live', text: 'Live', Icon: IconBroadcast },
      { to: '/log', text: 'Request log', Icon: IconListDetails },
      { to: '/analytics', text: 'Analytics', Icon: IconChartHistogram },
    ],
  },
  {
    name: 'Developers',
    links: [
      { to: '/playground', text: 'Playground', Icon: IconFlask },
      { to: '/pair-tester', text: 'Pair tester', Icon: IconArrowsLeftRight },
    ],
  },
  {
    name: 'Gallery',
    links: [
      { to: '/subjects', text: 'Subjects', Icon: IconUsers },
      { to: '/gallery-health', text: 'Gallery health', Icon: IconStethoscope },
      { to: '/groups', text: 'Groups', Icon: IconTags },
      { to: '/deletions', text: 'Deletion ledger', Icon: IconTrash },
    ],
  },
  {
    name: 'Access',
    links: [
      { to: '/projects', text: 'Projects', Icon: IconFolders },
      { to: '/keys', text: 'API keys', Icon: IconKey },
      { to: '/webhooks', text: 'Webhooks', Icon: IconWebhook },
      { to: '/team', text: 'Team', Icon: IconUserShield },
      { to: '/team/audit', text: 'Audit log', Icon: IconBooks },
    ],
  },
  {
    name: 'Billing',
    links: [
      { to: '/money', text: 'Wallet and budgets', Icon: IconCoins },
      { to: '/money/ledger', text: 'Ledger', Icon: IconReceipt },
    ],
  },
  {
    name: 'Settings',
    links: [
      { to: '/models', text: 'Models', Icon: IconCpu },
      { to: '/system', text: 'System', Icon: IconHeartbeat },
    ],
  },
] as const

const exactMatch = { exact: true, includeSearch: false } as const

export function Navigation({ onNavigate }: { readonly onNavigate: () => void }) {
  return (
    <Stack component="nav" aria-label="Main" gap="sm">
      {sections.map(({ name, links }) => (
        <Box key={name}>
          <div className="fg-caption" style={{ padding: '0 10px 4px' }}>
            {name}
          </div>
          {links.map(({ to, text, Icon }) => (
            <Link
              key={to}
              to={to}
              className="fg-nav-link"
              activeOptions={exactMatch}
              onClick={onNavigate}
            >
              <Icon size={16} stroke={1.6} aria-hidden />
              {text}
            </Link>
          ))}
          {name === 'Developers' && (
            <a href="/docs/" target="_blank" rel="noreferrer" className="fg-nav-link">
              <IconBook2 size={16} stroke={1.6} aria-hidden />
              Documentation
            </a>
          )}
        </Box>
      ))}
    </Stack>
  )
}
