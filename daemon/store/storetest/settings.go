package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/store"
)

// Settings runs the suite of the settings that a store keeps. Each call of open
// gives a store without any, which is closed when the test ends.
func Settings(t *testing.T, open func(t *testing.T) *store.Store) {
	for name, test := range map[string]func(*testing.T, *store.Store){
		"Changes":   settingChanges,
		"Texts":     settingTexts,
		"AtOnce":    settingsAtOnce,
		"Cancelled": settingsCancelled,
		"Closed":    settingsClosed,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func settingTo(name, value string, at time.Time) store.SettingChange {
	c := store.SettingChange{Name: name, Value: &value, Entry: entryAt(at)}
	c.Entry.Subject = name
	return c
}

// settingsAre compares what is kept, and gives its version.
func settingsAre(t *testing.T, s *store.Settings, want ...store.SavedSetting) int64 {
	t.Helper()
	version, got, err := s.All(t.Context())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	if again, err := s.Version(t.Context()); err != nil || again != version {
		t.Errorf("the version is %d and %d (%v)", version, again, err)
	}
	return version
}

// settingChanges: changes happen together or not at all, each leaves an entry in
// the audit trail, and one that is based on an older version does nothing.
func settingChanges(t *testing.T, opened *store.Store) {
	s := opened.Settings()
	based := settingsAre(t, s)
	change := func(based int64, want bool, to ...store.SettingChange) {
		t.Helper()
		if done, err := s.Change(t.Context(), based, to); done != want || err != nil {
			t.Errorf("changed %v (%v), want %v", done, err, want)
		}
	}
	change(based, true, settingTo("b", "1", noon), settingTo("a", "2", noon))
	now := settingsAre(t, s, store.SavedSetting{Name: "a", Value: "2", Saved: noon}, store.SavedSetting{Name: "b", Value: "1", Saved: noon})
	if now <= based {
		t.Errorf("the version went from %d to %d", based, now)
	}
	change(based, false, settingTo("b", "3", noon))
	later := noon.Add(time.Hour)
	change(now, true, settingTo("a", "4", later), store.SettingChange{Name: "b", Entry: entryAt(later)}, store.SettingChange{Name: "never", Entry: entryAt(later)})
	settingsAre(t, s, store.SavedSetting{Name: "a", Value: "4", Saved: later})
	expectTrail(t, opened, nil, "x", "x", "a", "a", "b")
}

// settingTexts come back as they were given.
func settingTexts(t *testing.T, opened *store.Store) {
	s := opened.Settings()
	var want []store.SavedSetting
	var to []store.SettingChange
	for i, text := range []string{"", " ", "O'Brien", "😀", strings.Repeat("漢", store.MostSetting/3)} {
		name := string(rune('a' + i))
		want = append(want, store.SavedSetting{Name: name, Value: text, Saved: noon})
		to = append(to, settingTo(name, text, noon))
	}
	version, err := s.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done, err := s.Change(t.Context(), version, to); !done || err != nil {
		t.Fatalf("changed %v (%v)", done, err)
	}
	settingsAre(t, s, want...)
}

// settingsAtOnce: of several who change what they have read of one version, one
// succeeds.
func settingsAtOnce(t *testing.T, opened *store.Store) {
	s := opened.Settings()
	version, err := s.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var done atomic.Int64
	for range 8 {
		all.Go(func() {
			hit, err := s.Change(t.Context(), version, []store.SettingChange{settingTo("a", "1", noon)})
			if err != nil {
				t.Error(err)
			}
			if hit {
				done.Add(1)
			}
		})
	}
	all.Wait()
	if done.Load() != 1 {
		t.Errorf("%d succeeded", done.Load())
	}
	expectTrail(t, opened, nil, "a")
}

func settingOperations(ctx context.Context, s *store.Settings) map[string]error {
	all := make(map[string]error)
	_, all["Version"] = s.Version(ctx)
	_, _, all["All"] = s.All(ctx)
	_, all["Change"] = s.Change(ctx, 1, nil)
	return all
}

func settingsCancelled(t *testing.T, opened *store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range settingOperations(ctx, opened.Settings()) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want cancelled", name, err)
		}
	}
}

func settingsClosed(t *testing.T, opened *store.Store) {
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range settingOperations(t.Context(), opened.Settings()) {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v, want unavailable", name, err)
		}
	}
}
