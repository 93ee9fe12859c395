-- Who made offer codes and who deactivated them, the newest first, a page at a time.
CREATE INDEX code_campaigns_made ON code_campaigns (created_at, id);
CREATE INDEX code_campaigns_deactivated ON code_campaigns (deactivated_at, id)
    WHERE deactivated_at IS NOT NULL;
