package main

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"os"

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"
)

// american is the language of the resources in the numbers of Windows.
const american = 0x409

// manifest declares that a program supports current versions of Windows, long paths and UTF-8,
// and runs with the rights of its user.
const manifest = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0">
  <compatibility xmlns="urn:schemas-microsoft-com:compatibility.v1">
    <application>
      <supportedOS Id="{8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a}"/>
    </application>
  </compatibility>
  <application xmlns="urn:schemas-microsoft-com:asm.v3">
    <windowsSettings>
      <longPathAware xmlns="http://schemas.microsoft.com/SMI/2016/WindowsSettings">true</longPathAware>
      <activeCodePage xmlns="http://schemas.microsoft.com/SMI/2019/WindowsSettings">UTF-8</activeCodePage>
    </windowsSettings>
  </application>
  <trustInfo xmlns="urn:schemas-microsoft-com:asm.v3">
    <security>
      <requestedPrivileges>
        <requestedExecutionLevel level="asInvoker" uiAccess="false"/>
      </requestedPrivileges>
    </security>
  </trustInfo>
</assembly>
`

// product is the content of a program's properties in Explorer.
type product struct {
	name        string // of the program
	description string
	text        string // version, such as v1.2.3-4-gabcdef
	number      string // version of the installer
}

// addResources adds the version, the icon and the manifest to a program for Windows.
func addResources(file string, p product) error {
	resources := winres.ResourceSet{}
	err := resources.Set(winres.RT_MANIFEST, winres.ID(1), american, []byte(manifest))
	if err != nil {
		return err
	}
	icon, err := winres.NewIconFromImages(icons())
	if err != nil {
		return err
	}
	if err := resources.SetIcon(winres.ID(1), icon); err != nil {
		return err
	}
	info := version.Info{}
	info.SetFileVersion(p.number)
	info.SetProductVersion(p.number)
	for _, entry := range []struct{ key, value string }{
		{version.CompanyName, "The whd project"},
		{version.FileDescription, p.description},
		{version.FileVersion, p.text},
		{version.InternalName, p.name},
		{version.LegalCopyright, "MIT License"},
		{version.OriginalFilename, p.name + ".exe"},
		{version.ProductName, "whd"},
		{version.ProductVersion, p.text},
	} {
		if err := info.Set(american, entry.key, entry.value); err != nil {
			return err
		}
	}
	resources.SetVersionInfo(info)

	program, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := resources.WriteToEXE(&b, bytes.NewReader(program)); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o755)
}

func icons() []image.Image {
	var sizes []image.Image
	for _, size := range []int{16, 24, 32, 48, 256} {
		sizes = append(sizes, drawIcon(size))
	}
	return sizes
}

// drawIcon draws a hook, for webhooks: a stem that ends in a half circle, on a disc.
func drawIcon(size int) image.Image {
	const samples = 4 // in each direction, to smooth edges
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			var disc, hook int
			for i := range samples * samples {
				u := (float64(x) + (float64(i%samples)+0.5)/samples) / float64(size)
				v := (float64(y) + (float64(i/samples)+0.5)/samples) / float64(size)
				if math.Hypot(u-0.5, v-0.5) > 0.5 {
					continue
				}
				disc++
				if isHook(u, v) {
					hook++
				}
			}
			if disc == 0 {
				continue
			}
			blend := func(ground, ink int) uint8 { return uint8((ground*(disc-hook) + ink*hook) / disc) }
			alpha := uint8(255 * disc / (samples * samples))
			img.SetNRGBA(x, y, color.NRGBA{blend(0x1f, 0xff), blend(0x6f, 0xff), blend(0x8b, 0xff), alpha})
		}
	}
	return img
}

// isHook reports whether the hook covers a point of the unit square.
func isHook(u, v float64) bool {
	const (
		width   = 0.055
		radius  = 0.17
		centerX = 0.45
		centerY = 0.6
	)
	if v < centerY {
		isStem := math.Abs(u-centerX-radius) < width && v > 0.2
		isTip := math.Abs(u-centerX+radius) < width && v > 0.48
		return isStem || isTip
	}
	return math.Abs(math.Hypot(u-centerX, v-centerY)-radius) < width
}
