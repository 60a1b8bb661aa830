import { Box, Stack } from '@mantine/core'
import {
  IconActivity,
  IconBook2,
  IconBooks,
  IconChartHistogram,
  IconCpu,
  IconCoins,
  IconFlask,
  IconFolders,
  IconHeartbeat,
  IconKey,
  IconListDetails,
  IconReceipt,
  IconTags,
  IconTrash,
  IconUserShield,
  IconUsers,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'

/** The pages, in the order in which a newcomer needs them within each part of the house. */
const sections = [
  {
    name: 'Watch',
    links: [
      { to: '/', text: 'Overview', Icon: IconActivity },
      { to: '/log', text: 'Request log', Icon: IconListDetails },
      { to: '/analytics', text: 'Analytics', Icon: IconChartHistogram },
    ],
  },
  {
    name: 'Build',
    links: [
      { to: '/playground', text: 'Playground', Icon: IconFlask },
      { to: '/documentation', text: 'Documentation', Icon: IconBook2 },
    ],
  },
  {
    name: 'Gallery',
    links: [
      { to: '/subjects', text: 'Subjects', Icon: IconUsers },
      { to: '/groups', text: 'Groups', Icon: IconTags },
      { to: '/deletions', text: 'Deletion ledger', Icon: IconTrash },
    ],
  },
  {
    name: 'Access',
    links: [
      { to: '/projects', text: 'Projects', Icon: IconFolders },
      { to: '/keys', text: 'API keys', Icon: IconKey },
      { to: '/team', text: 'Team', Icon: IconUserShield },
      { to: '/team/audit', text: 'Audit', Icon: IconBooks },
    ],
  },
  {
    name: 'Money',
    links: [
      { to: '/money', text: 'Wallet and budgets', Icon: IconCoins },
      { to: '/money/ledger', text: 'Money audit', Icon: IconReceipt },
    ],
  },
  {
    name: 'House',
    links: [
      { to: '/models', text: 'Models', Icon: IconCpu },
      { to: '/system', text: 'System', Icon: IconHeartbeat },
    ],
  },
] as const

const exactMatch = { exact: true, includeSearch: false } as const

export function Navigation({ onChoose }: { readonly onChoose: () => void }) {
  return (
    <Stack component="nav" aria-label="Pages" gap="md">
      {sections.map(({ name, links }) => (
        <Box key={name}>
          <div className="fg-eyebrow" style={{ padding: '0 10px 4px' }}>
            {name}
          </div>
          {links.map(({ to, text, Icon }) => (
            <Link
              key={to}
              to={to}
              className="fg-nav-link"
              activeOptions={exactMatch}
              onClick={onChoose}
            >
              <Icon size={16} stroke={1.6} aria-hidden />
              {text}
            </Link>
          ))}
        </Box>
      ))}
    </Stack>
  )
}
